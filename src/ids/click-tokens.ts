import { bounds } from '../bounds.ts';
import type { RandomBytesPool } from '../secrets/random-pool.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { decodeCanonicalBase64url, TokenCipher, TokenSigner } from './signed-token.ts';
import { subIdByteLength } from './sub-id.ts';

/** Contents of a click_id (docs/contract.md#click-ids), which suffice to restore a click that is missing from the ledger. */
export interface ClickIdPayload {
  /** The 32 bytes of the session's sub_id. */
  readonly sub: Uint8Array;
  readonly offerId: string;
  readonly clickedMs: number;
  /** Estimated revenue of the click in micro-dollars. A repeated click on an offer has the same estimated revenue as the first click. */
  readonly valueMicros: number;
  /** Payout of the offer in micro-dollars if the vertical has flat payouts (`Vertical.flatPayout`); otherwise null. */
  readonly payoutMicros: number | null;
  /** Whether a lender can confirm revenue for the click; false for HEAD requests and self-declared bots. */
  readonly countable: boolean;
}

/** First byte of an encrypted click_id. A click_id in the old signed format starts with the number of its secret, which is never 0. */
const encryptedLayout = 0;

// Byte offsets in the plaintext of an encrypted click_id.
const subOffset = 1;
const clickedOffset = subOffset + subIdByteLength;
const valueOffset = clickedOffset + 6;
const valueBytes = 5;
/** Offset of the payout if the click_id contains a payout; otherwise offset of the offer id. */
const payoutOffset = valueOffset + valueBytes;
const payoutBytes = 5;

/** Bits of the first byte in the plaintext of an encrypted click_id. */
const countableFlag = 1;
const payoutFlag = 2;

// Byte offsets in a click_id in the old signed format.
const signedClickedOffset = 1 + subIdByteLength;
const signedValueOffset = signedClickedOffset + 6;
const signedOfferIdOffset = signedValueOffset + 6;
const signedOfferIdBytesMax = 64;
const signedBytesMax = signedOfferIdOffset + signedOfferIdBytesMax;
const signedMacBytes = 10;

/**
 * Issues and verifies click_ids. The landing URL passes a click_id to the lender, and the lender's revenue confirmation contains the same
 * click_id. A click_id is the base64url encoding of the byte 0, followed by a token of `TokenCipher`. The plaintext of the token has these
 * parts (lengths in bytes):
 *
 *     flags (1), sub_id (32), time ms (6), value in micro-dollars (5), payout in micro-dollars (0 or 5), offer id (text)
 *
 * The lowest bit of the flags is set for a countable click, and the next bit if the token contains a payout. The length of the token
 * reveals only the length of the offer id and whether there is a payout. The landing URL already reveals the offer and its vertical.
 *
 * Also verifies click_ids in the format of earlier versions, because lenders may confirm clicks for 90 days. A click_id in the old format
 * is signed but not encrypted, and does not contain `countable`. The old format has these parts (lengths in bytes):
 *
 *     secret number (1), sub_id (32), time ms (6), value in micro-dollars (6), offer id (text), MAC (10)
 */
export class ClickIds {
  readonly #cipher: TokenCipher;
  readonly #signer: TokenSigner;

  constructor(secrets: SecretSet, random: RandomBytesPool) {
    this.#signer = new TokenSigner(secrets, {
      purpose: 'click-id',
      secretNumberOffset: 0,
      macBytes: signedMacBytes,
      messageBytesMax: signedBytesMax,
    });
    this.#cipher = new TokenCipher(secrets, random, {
      encryptionPurpose: 'click-id-pad',
      macPurpose: 'click-id-tag',
      associatedDataBytes: 1,
      plaintextBytesMax: payoutOffset + payoutBytes + bounds.offerIdCharactersMax,
    });
    this.#cipher.buffer[0] = encryptedLayout;
  }

  issue({ sub, offerId, clickedMs, valueMicros, payoutMicros, countable }: ClickIdPayload): string {
    const { buffer, plaintextOffset } = this.#cipher;
    const hasPayout = payoutMicros !== null;
    buffer[plaintextOffset] = (countable ? countableFlag : 0) | (hasPayout ? payoutFlag : 0);
    buffer.set(sub, plaintextOffset + subOffset);
    buffer.writeUIntBE(clickedMs, plaintextOffset + clickedOffset, 6);
    buffer.writeUIntBE(valueMicros, plaintextOffset + valueOffset, valueBytes);
    if (hasPayout) buffer.writeUIntBE(payoutMicros, plaintextOffset + payoutOffset, payoutBytes);
    const offerIdOffset = hasPayout ? payoutOffset + payoutBytes : payoutOffset;
    const offerIdBytes = buffer.write(offerId, plaintextOffset + offerIdOffset, bounds.offerIdCharactersMax, 'latin1');
    return buffer.toString('base64url', 0, this.#cipher.encrypt(offerIdOffset + offerIdBytes));
  }

  /** Returns the contents of a click_id, or null if this service did not issue the click_id. */
  verify(text: string): ClickIdPayload | null {
    const token = decodeCanonicalBase64url(text);
    if (token === null) return null;
    if (token[0] !== encryptedLayout) return this.#verifyLegacyClickId(token);
    const plaintextEnd = this.#cipher.decrypt(token.subarray(1));
    if (plaintextEnd === null) return null;
    const { buffer, plaintextOffset } = this.#cipher;
    const flags = buffer[plaintextOffset]!;
    const hasPayout = (flags & payoutFlag) !== 0;
    const offerIdOffset = hasPayout ? payoutOffset + payoutBytes : payoutOffset;
    return {
      countable: (flags & countableFlag) !== 0,
      sub: Uint8Array.from(buffer.subarray(plaintextOffset + subOffset, plaintextOffset + clickedOffset)),
      clickedMs: buffer.readUIntBE(plaintextOffset + clickedOffset, 6),
      valueMicros: buffer.readUIntBE(plaintextOffset + valueOffset, valueBytes),
      payoutMicros: hasPayout ? buffer.readUIntBE(plaintextOffset + payoutOffset, payoutBytes) : null,
      offerId: buffer.toString('latin1', plaintextOffset + offerIdOffset, plaintextEnd),
    };
  }

  #verifyLegacyClickId(token: Buffer): ClickIdPayload | null {
    const macOffset = token.length - signedMacBytes;
    if (macOffset <= signedOfferIdOffset || macOffset > signedBytesMax) return null;
    if (!this.#signer.verify(token, macOffset)) return null;
    return {
      countable: true,
      sub: Uint8Array.from(token.subarray(1, signedClickedOffset)),
      clickedMs: token.readUIntBE(signedClickedOffset, 6),
      valueMicros: token.readUIntBE(signedValueOffset, 6),
      payoutMicros: null,
      offerId: token.toString('latin1', signedOfferIdOffset, macOffset),
    };
  }
}

/** Inputs for the revenue estimate of a click, as of the time when the offers were ranked (docs/contract.md#click-revenue). */
export interface ClickTokenPayload {
  readonly catalogVersion: string;
  /** Index of the borrower's credit band in the vertical's list of credit bands. */
  readonly creditBand: number;
}

const plaintextBytesMax = 32;

/**
 * Encrypts and decrypts click tokens, which click URLs contain as the parameter `v` (docs/contract.md#click-urls). The click URLs of all
 * offers in one response contain the same click token, in base64url. The plaintext of a token is the credit band (1 byte) and the catalog
 * version. The sub_id is the associated data of the encryption, so a token is valid only in one session.
 */
export class ClickTokenCipher {
  readonly #cipher: TokenCipher;

  constructor(secrets: SecretSet, random: RandomBytesPool) {
    this.#cipher = new TokenCipher(secrets, random, {
      encryptionPurpose: 'offer-value-pad',
      macPurpose: 'offer-value',
      associatedDataBytes: subIdByteLength,
      plaintextBytesMax,
    });
  }

  /** Creates an encrypted token for a session. Throws a RangeError if the catalog version is longer than 31 characters. */
  encrypt(sub: Uint8Array, { catalogVersion, creditBand }: ClickTokenPayload): string {
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(sub, 0);
    buffer[plaintextOffset] = creditBand;
    buffer.write(catalogVersion, plaintextOffset + 1, 'latin1');
    return buffer.toString('base64url', subIdByteLength, this.#cipher.encrypt(1 + catalogVersion.length));
  }

  /** Returns the payload of a click token, or null if the token was not issued for this session. */
  decrypt(sub: Uint8Array, text: string): ClickTokenPayload | null {
    const token = decodeCanonicalBase64url(text);
    if (token === null) return null;
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(sub, 0);
    const plaintextEnd = this.#cipher.decrypt(token);
    if (plaintextEnd === null) return null;
    return {
      creditBand: buffer[plaintextOffset]!,
      catalogVersion: buffer.toString('latin1', plaintextOffset + 1, plaintextEnd),
    };
  }
}
