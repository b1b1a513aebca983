const accountHexDigits = 8;
/** Length of a tenant code. */
export const tenantHexDigits = 10;

/** Account, vertical and mode of a tenant, as numbers. */
export interface TenantNumbers {
  readonly account: number;
  /** Result of `encodeVerticalAndMode`. */
  readonly verticalAndMode: number;
}

/** Formats a tenant as 10 lower-case hex digits: the account (8), and the vertical and mode (2). */
export function formatTenantCode({ account, verticalAndMode }: TenantNumbers): string {
  return (account * 0x100 + verticalAndMode).toString(16).padStart(tenantHexDigits, '0');
}

/** Parses the tenant code at the start of a text. Returns null if the text does not start with a tenant code. */
export function parseTenantCode(text: string): TenantNumbers | null {
  const code = text.slice(0, tenantHexDigits);
  if (!/^[0-9a-f]{10}$/.test(code)) return null;
  return {
    account: Number.parseInt(code.slice(0, accountHexDigits), 16),
    verticalAndMode: Number.parseInt(code.slice(accountHexDigits), 16),
  };
}
