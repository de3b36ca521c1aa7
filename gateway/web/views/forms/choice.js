// One of several, none of them chosen beforehand.

import { html } from '../../vendor/lit-html/lit-html.js';

/**
 * @param options `[value, words]`
 * @param chosen the value that is chosen, or null
 * @param choose told of the choice
 */
export function choice(legend, options, chosen, choose) {
  return html`<fieldset><legend>${legend}</legend>${options.map(
    ([value, words]) => html`<button type="button" class="option" aria-pressed=${chosen === value} @click=${() => choose(value)}>
      <span class="tick" aria-hidden="true">${chosen === value ? '◉' : '○'}</span> ${words}</button>`,
  )}</fieldset>`;
}
