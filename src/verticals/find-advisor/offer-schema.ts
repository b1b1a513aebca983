import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import type { CatalogErrors, CatalogValuePath } from '../../catalogs/catalog-errors.ts';
import {
  catalogSchema,
  disclosedOfferSchemas,
  lenderSchema,
  minimumAgeFileMembers,
  productNameSchema,
  strictObject,
} from '../../catalogs/catalog-schema.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';

/** Schema of the members that only the catalog files of advisors have (docs/verticals/find-advisor.md#catalog). */

export const firmTypes = ['ria', 'broker_dealer', 'dual'] as const;
export const credentials = ['cfp', 'cfa', 'cpa', 'chfc', 'ea'] as const;
export const meetingKinds = ['in_person', 'remote', 'both'] as const;

/** Members of an offer that each fee model requires. The other members of the list are not allowed. */
const feeMembersByModel = {
  percent_of_assets: ['fee_tiers'],
  flat: ['fee_usd'],
  hourly: ['fee_usd', 'hours_per_year'],
  commission: ['estimated_annual_fee'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type FeeModel = keyof typeof feeMembersByModel;
export const feeModels = Object.keys(feeMembersByModel) as [FeeModel, ...FeeModel[]];
const feeMembers = ['fee_tiers', 'fee_usd', 'hours_per_year', 'estimated_annual_fee'] as const;

const wholeUsd = Type.Integer({ minimum: 0, maximum: bounds.offerAmountUsdMax });
// The bounds of fees keep every fee a safe integer in thousandths of a cent, the unit of `AdvisorTables`.
const feeUsd = Type.Number({ minimum: 0, maximum: bounds.advisorFeeUsdMax });
const feeTier = Type.Object(
  { from: wholeUsd, percent: Type.Number({ minimum: 0, maximum: bounds.advisorFeePercentMax }) },
  strictObject,
);

const offer = Type.Object(
  {
    ...disclosedOfferSchemas,
    name: productNameSchema,
    compensation_disclosure: Type.String({ minLength: 1, maxLength: bounds.offerLegalCharactersMax }),
    confirm_rate: Type.Number({ minimum: 0, maximum: 1 }),
    firm_type: Type.Enum(firmTypes),
    fiduciary: Type.Boolean(),
    credentials: Type.Array(Type.Enum(credentials)),
    fee_model: Type.Enum(feeModels),
    fee_tiers: Type.Optional(Type.Array(feeTier, { minItems: 1, maxItems: bounds.advisorFeeTiersMax })),
    fee_usd: Type.Optional(feeUsd),
    hours_per_year: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.advisorHoursPerYearMax })),
    estimated_annual_fee: Type.Optional(feeUsd),
    minimum_assets: wholeUsd,
    services: Type.Array(Type.String(), { minItems: 1 }),
    meeting: Type.Enum(meetingKinds),
    years: Type.Integer({ minimum: 0, maximum: 100 }),
    crd_number: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }),
    disclosures_url: Type.String({ maxLength: 1_024 }),
    has_disclosures: Type.Boolean(),
  },
  strictObject,
);

export const advisorSchema = { fileMembers: minimumAgeFileMembers, lenderMembers: {}, offer };

const catalog = catalogSchema(minimumAgeFileMembers, lenderSchema({}, offer));

export type AdvisorCatalog = Static<typeof catalog>;
export type AdvisorOffer = Static<typeof offer>;

/** Reports members of an advisor's offer that contradict each other or the law, and values that the vertical does not know. */
export function validateAdvisorOffer(
  offer: AdvisorOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const { state } = vertical.roles;
  if (!offer.criteria.some(({ field }) => field === state)) {
    errors.add(
      [...path, 'criteria'],
      `must contain a criterion on ${state}: the states in which the advisor is licensed`,
    );
  }
  checkFees(offer, path, errors);
  checkServices(offer, path, vertical, errors);
  checkFirm(offer, path, errors);
  checkCompensationDisclosure(offer.compensation_disclosure, [...path, 'compensation_disclosure'], errors);
  errors.checkHttpsUrl(offer.disclosures_url, [...path, 'disclosures_url']);
}

/** Reports members that do not belong to the fee model, and fees that cannot be computed exactly. */
function checkFees(offer: AdvisorOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const { fee_model, fee_tiers = [] } = offer;
  const required: readonly string[] = feeMembersByModel[fee_model];
  for (const member of feeMembers) {
    const isPresent = offer[member] !== undefined;
    if (isPresent === required.includes(member)) continue;
    errors.add([...path, member], `is ${isPresent ? 'not allowed' : 'required'} if fee_model is ${fee_model}`);
  }
  for (const member of ['fee_usd', 'estimated_annual_fee'] as const) {
    checkDecimals(offer[member], 2, [...path, member], errors);
  }
  for (const [at, { from, percent }] of fee_tiers.entries()) {
    const tierPath = [...path, 'fee_tiers', at];
    checkDecimals(percent, 3, [...tierPath, 'percent'], errors);
    if (at === 0 && from !== 0) errors.add([...tierPath, 'from'], 'must be 0 in the first tier');
    if (at > 0 && from <= fee_tiers[at - 1]!.from) {
      errors.add([...tierPath, 'from'], 'must be greater than in the tier before');
    }
  }
}

function checkDecimals(
  value: number | undefined,
  decimals: 2 | 3,
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  if (value === undefined || Number(value.toFixed(decimals)) === value) return;
  errors.add(path, `must have at most ${decimals === 2 ? 'two' : 'three'} decimals`);
}

function checkServices(
  { services, credentials }: AdvisorOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  for (const [member, values] of Object.entries({ services, credentials })) {
    if (new Set(values).size < values.length) errors.add([...path, member], 'must not repeat a value');
  }
  const topics = getChoiceValues(vertical, 'advice_topic');
  for (const [at, service] of services.entries()) {
    if (!topics.includes(service)) errors.add([...path, 'services', at], 'is not a value of advice_topic');
  }
}

/** Warns about figures that contradict the registration of the firm. */
function checkFirm({ firm_type, fiduciary, fee_model }: AdvisorOffer, path: CatalogValuePath, errors: CatalogErrors) {
  if (firm_type === 'ria' && !fiduciary) {
    errors.addWarning([...path, 'fiduciary'], 'is false, but a registered investment adviser is a fiduciary');
  }
  if (firm_type === 'broker_dealer' && fee_model !== 'commission') {
    errors.addWarning(
      [...path, 'fee_model'],
      'is not commission, but a broker-dealer must register as an adviser to charge other fees (15 U.S.C. 80b-2(a)(11)(C))',
    );
  }
}

/** Reports a text that does not state that the promoter is paid, whether or not the visitor hires the advisor. */
function checkCompensationDisclosure(text: string, path: CatalogValuePath, errors: CatalogErrors): void {
  errors.checkSingleLineText(text, path);
  if (!/\b(?:paid|pays?|compensat)/i.test(text) || !/\bwhether or not\b/i.test(text)) {
    errors.add(
      path,
      'must state that the advisor pays, "whether or not" the visitor hires the advisor (17 CFR 275.206(4)-1(b))',
    );
  }
}
