import { banking } from './banking.ts';
import { creditCards } from './credit-cards.ts';
import { findAdvisor } from './find-advisor.ts';
import { mortgage } from './mortgage.ts';
import { personalLoans } from './personal-loans.ts';
import type { Product } from './product.ts';

/** All products, in the order of the navigation. A new product needs one file and one entry here. */
export const products: readonly Product[] = [personalLoans, creditCards, mortgage, banking, findAdvisor];
