import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { productOf, type VerticalProduct } from '../verticals/products.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { catalogSchema, lenderSchema } from './catalog-schema.ts';

type CompiledValidator = ReturnType<typeof compileSchema>;

/**
 * Validators of a catalog file. Finding errors takes many times as long as a check, so a file is also checked in parts and only parts
 * that fail are searched for errors: the file without its lenders, each lender without its offers, and each offer.
 */
interface CatalogValidators {
  readonly catalogValidator: CompiledValidator;
  readonly fileValidator: CompiledValidator;
  readonly lenderValidator: CompiledValidator;
  readonly offerValidator: CompiledValidator;
}

const validatorsByProduct = new Map<VerticalProduct, CatalogValidators>();

/** Compiles the validators of the vertical's product at the first call. */
export function catalogValidators(vertical: Vertical): CatalogValidators {
  const product = productOf(vertical);
  const compiled = validatorsByProduct.get(product);
  if (compiled !== undefined) return compiled;
  const { fileMembers, lenderMembers, offer } = product.schema;
  const validators = {
    catalogValidator: compileSchema(catalogSchema(fileMembers, lenderSchema(lenderMembers, offer))),
    fileValidator: compileSchema(catalogSchema(fileMembers, Type.Unknown())),
    lenderValidator: compileSchema(lenderSchema(lenderMembers, Type.Unknown())),
    offerValidator: compileSchema(offer),
  };
  validatorsByProduct.set(product, validators);
  return validators;
}

function compileSchema(schema: TSchema) {
  return Compile(schema);
}
