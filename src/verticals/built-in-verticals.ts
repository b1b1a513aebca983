import { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import { banking } from './banking/banking.ts';
import { depositAccount } from './banking/deposit-account.ts';
import { creditCard } from './credit-cards/credit-card.ts';
import { creditCards } from './credit-cards/credit-cards.ts';
import { financialAdvisor } from './find-advisor/financial-advisor.ts';
import { findAdvisor } from './find-advisor/find-advisor.ts';
import { mortgage } from './mortgage/mortgage.ts';
import { mortgageLoan } from './mortgage/mortgage-loan.ts';
import { installmentLoan } from './personal-loans/installment-loan.ts';
import { personalLoans } from './personal-loans/personal-loans.ts';

/** Verticals of this release. Each vertical has a folder beside this file, and one line here. */
export const builtInVerticals = new VerticalRegistry();

const folder = (name: string) => new URL(`./${name}/`, import.meta.url);
builtInVerticals.register(personalLoans, installmentLoan, folder('personal-loans'));
builtInVerticals.register(creditCards, creditCard, folder('credit-cards'));
builtInVerticals.register(mortgage, mortgageLoan, folder('mortgage'));
builtInVerticals.register(banking, depositAccount, folder('banking'));
builtInVerticals.register(findAdvisor, financialAdvisor, folder('find-advisor'));
