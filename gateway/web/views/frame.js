// What is around every screen: the strip on top, the way to the other screens, the sheet, the curtain.

import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { Sheet } from './sheet.js';
import { Strip } from './strip.js';

const SCREENS = ['alerts', 'hall', 'tech', 'me'];

export class Frame {
  constructor(app) {
    this.app = app;
    this.view = null;
    this.viewOf = null;
    const root = document.getElementById('app');
    render(
      html`<header></header><main tabindex="0"></main><nav></nav>
        <dialog class="sheet"></dialog><dialog class="ask"></dialog><div class="curtain" hidden role="status"></div>`,
      root,
    );
    const part = (selector) => root.querySelector(selector);
    this.main = part('main');
    this.nav = part('nav');
    this.ask = part('.ask');
    this.curtain = part('.curtain');
    this.strip = new Strip(app, part('header'));
    this.sheet = new Sheet(app, part('.sheet'));
  }

  mount(View, argument = '') {
    const wanted = `${View.name} ${argument} ${this.app.words.language}`;
    if (this.viewOf === wanted) return;
    this.viewOf = wanted;
    this.view?.leave?.();
    this.main.replaceChildren();
    // lit-html keeps what it drew on the container; a fresh one knows nothing of the screen before.
    const place = document.createElement('div');
    place.className = `view ${View.place ?? ''}`;
    this.main.append(place);
    this.main.scrollTop = 0;
    document.body.dataset.view = View.place ?? '';
    this.view = new View(this.app, place, argument);
  }

  draw(changes, look) {
    const whole = changes.tick || changes.alerts || changes.all;
    if (whole) this.strip.draw(look);
    // Only the hall and a table show moves at once; what the others show is no older than a tick.
    if (whole || this.view?.shows?.(changes.tables)) this.view?.draw(changes, look);
    if (!whole) return;
    this.sheet.draw(look);
    if (changes.all) this.#nav();
    this.curtain.hidden = !this.app.checking;
    if (this.app.checking) this.curtain.textContent = this.app.words.t('checking');
    document.body.classList.toggle('blind', !look.hears);
  }

  /** Ask for a table's number. */
  askTable(first = '') {
    const { t } = this.app.words;
    const go = (event) => {
      event.preventDefault();
      const id = new FormData(event.target).get('table').trim();
      this.ask.close();
      if (id) this.app.router.go('t', id);
    };
    render(
      html`<form @submit=${go}>
        <label>${t('table.enter')}<input name="table" inputmode="numeric" autocomplete="off" required .value=${first}></label>
        <div class="row"><button type="button" @click=${() => this.ask.close()}>${t('sheet.close')}</button>
        <button class="strong">${t('table.go')}</button></div>
      </form>`,
      this.ask,
    );
    this.ask.showModal();
    const input = this.ask.querySelector('input');
    input.focus();
    input.setSelectionRange(first.length, first.length);
  }

  #nav() {
    const { t } = this.app.words;
    const { name } = this.app.router;
    const link = (screen) => html`<a href="#/${screen}" aria-current=${screen === name ? 'page' : nothing}>${t(`nav.${screen}`)}</a>`;
    this.nav.setAttribute('aria-label', t('nav.label'));
    const [alerts, hall, ...rest] = SCREENS;
    render(
      html`${link(alerts)}${link(hall)}<button @click=${() => this.askTable()}>${t('nav.table')}</button>${rest.map(link)}`,
      this.nav,
    );
  }
}
