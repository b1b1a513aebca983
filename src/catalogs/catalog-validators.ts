import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { productOf, type VerticalProduct } from '../verticals/products.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { catalogSchema, lenderSchema } from './catalog-schema.ts';

type CompiledValidator = ReturnType<typeof compileSchema>;

/**
 * Validators of a catalog file. Listing the errors takes many times as long as a check without a list. Therefore a file is first checked
 * in parts (the file without lenders, each lender without offers, each offer), and errors are listed only for parts that fail.
 */
interface CatalogValidators {
  readonly catalogValidator: CompiledValidator;
  readonly fileValidator: CompiledValidator;
  readonly lenderValidator: CompiledValidator;
  readonly offerValidator: CompiledValidator;
}

const validatorsByProduct = new Map<VerticalProduct, CatalogValidators>();

/** Returns the validators of the vertical's product, which are compiled at the first call. */
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
