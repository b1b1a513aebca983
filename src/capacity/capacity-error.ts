/** Why there is no plan: what is wrong with a file, or what cannot be had from this box. One line to be shown. */
export class CapacityError extends Error {
  override readonly name = 'CapacityError';
}
