import { createElement } from './element.ts';

/** A button for another attempt; it counts down first where the server has asked to wait. */
export function createRetryButton(waitMs: number, onPressed: () => void): HTMLButtonElement {
  const button = createElement('button', { class: 'go', type: 'button' }, 'Try again');
  button.addEventListener('click', onPressed);
  let seconds = Math.ceil(waitMs / 1_000);
  const count = () => {
    button.disabled = seconds > 0;
    button.textContent = seconds > 0 ? `Try again in ${seconds} s` : 'Try again';
    seconds--;
    if (button.disabled) setTimeout(count, 1_000);
  };
  count();
  return button;
}
