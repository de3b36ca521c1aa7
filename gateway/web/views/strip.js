// The strip on top of every screen: how much is open, how fresh it is, and a chip for every open alert.

import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { html, nothing, render, svg } from '../vendor/lit-html/lit-html.js';
import { Places, Taps } from '../tap.js';
import { lasting } from '../time.js';
import { SIGNS, tableOf } from './words.js';

const NOTICE_CHIPS = 24;
/** Above this many chips each is a sign and a number only, so that all of them are in sight. */
const WORDY = 6;

export class Strip {
  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.places = new Places();
    this.order = [];
    this.taps = new Taps(place, this.places, (key) => this.#open(key));
  }

  draw(look) {
    const { t } = this.app.words;
    const chips = this.#chips(look);
    const title = this.#title(look, t);
    if (document.title !== title) document.title = title;
    render(
      html`<div class="bar" role="status" aria-label=${t('strip.label')}>
          ${this.#counts(look, t)} ${this.#freshness(look, t)} ${this.#playing(look, t)}
          ${look.later ? html`<span class="later">${t('later.count', { count: look.later })}</span>` : nothing}
          <span class="grow"></span> ${this.#bell(t)}
        </div>
        ${chips.length
          ? html`<div class="chips" role="group" aria-label=${t('chips.label')}>
              ${repeat(chips, (item) => item.key, (item) => this.#chip(item, look, chips.length))}
            </div>`
          : nothing}`,
      this.place,
    );
    if (chips.length) this.places.note(this.place);
  }

  #title({ seen, hears, items }, t) {
    if (!hears || seen !== 'ok') return `✕ ${t('title')}`;
    const alerts = items.filter((item) => item.severity === 'alert').length;
    return alerts ? `▲${alerts} ${t('title')}` : t('title');
  }

  /** Never "0" when nothing can be known. */
  #counts({ seen, items }, t) {
    if (this.app.router.name === 'public') return nothing;
    if (seen === 'none') return html`<strong class="unseen">✕ ${t('no_alerts_account')}</strong>`;
    if (seen === 'waiting') return html`<strong>${t('alerts_waiting')}</strong>`;
    return html`<strong class="counts">${Object.keys(SIGNS).map((severity) => {
      const n = items.filter((item) => item.severity === severity).length;
      if (!n && severity === 'gone') return nothing;
      const blind = seen === 'blind';
      if (!n && blind) return html`<span class="count" aria-label=${t('counts.unknown')} role="img">${SIGNS[severity]}?</span>`;
      return html`<span class="count ${severity} ${n ? 'some' : ''}" role="img" aria-label=${t(`counts.${severity}`, { n })}>${SIGNS[severity]}${n}${blind ? '?' : ''}</span>`;
    })}</strong>`;
  }

  #freshness({ hears, at }, t) {
    const { hall, link, words } = this.app;
    if (hears) return html`<span class="fresh">${t('live')} <b>${words.time(at)}</b></span>`;
    if (hall.connected) {
      return html`<strong class="unseen">✕ ${t('deaf', { age: words.age(at - hall.heardAt) })}</strong>`;
    }
    if (hall.session) return html`<strong class="unseen">✕ ${t('blind', { time: words.time(hall.since) })}</strong>`;
    if (link.state === 'connecting') return html`<span>${t('connecting')}</span>`;
    return html`<strong class="unseen">✕ ${t('login.no_broker', { url: link.url })}</strong>`;
  }

  #playing({ hears, at }, t) {
    const tables = [...this.app.hall.tables.values()];
    if (!hears || !tables.length) return nothing;
    const count = tables.filter(
      (table) => table.value('game')?.phase === 'play' && this.app.hall.presence(table, at).state === 'live',
    ).length;
    return html`<span class="playing">${t('playing', { count, total: tables.length })}</span>`;
  }

  #bell(t) {
    if (this.app.router.name === 'public') return nothing;
    const off = this.app.prefs.get('sound') === false;
    const state = off ? 'off' : this.app.sound.armed ? 'on' : 'tap';
    const press = () => {
      this.app.sound.arm();
      if (state !== 'tap') this.app.prefs.set('sound', off);
      this.app.touch();
    };
    return html`<button class="bell ${state}" @click=${press}><svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M5 17V11a7 7 0 0 1 14 0v6l2 2H3zM10 21h4"></path>${state === 'on' ? nothing : svg`<path d="M3 3 21 21"></path>`}</svg>
      <span class="word">${t(`sound.${state}`)}</span></button>`;
  }

  /** Every alert, then notices as far as there is room; in a fixed order while a finger is on them. */
  #chips({ items }) {
    if (this.app.router.name === 'public') return [];
    const alerts = items.filter((item) => item.severity === 'alert');
    const notices = items.filter((item) => item.severity !== 'alert').slice(0, Math.max(0, NOTICE_CHIPS - alerts.length));
    const wanted = [...alerts, ...notices];
    if (!this.taps.frozen) {
      this.order = wanted.map((item) => item.key);
      return wanted;
    }
    const place = (item) => {
      const index = this.order.indexOf(item.key);
      return index < 0 ? this.order.length : index;
    };
    return wanted.sort((a, b) => place(a) - place(b));
  }

  #chip(item, { until }, count) {
    const { words } = this.app;
    const where = item.table ?? item.gateway;
    const label = words.kind(item.kind);
    return html`<button data-key=${item.key} class="chip ${item.severity} ${item.attended ? 'attended' : ''}"
      >${SIGNS[item.severity]}${where} <span class="more ${count > WORDY ? 'many' : ''}">${label} ${lasting(until - item.since)}</span></button>`;
  }

  #open(key) {
    const table = tableOf(this.app.hall, key);
    if (table) this.app.router.go('t', table);
    else this.app.router.go('tech');
  }
}
