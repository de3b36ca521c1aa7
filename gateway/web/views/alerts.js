// The list of alerts: home on a phone. One line per table and cause, and it never moves under a finger.

import { repeat } from '../vendor/lit-html/directives/repeat.js';
import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { lines } from '../order.js';
import { Places, Taps } from '../tap.js';
import { lasting, now } from '../time.js';
import { SIGNS, readings, sentence, tableOf } from './words.js';

const LATER_MIN = [5, 15];

export class AlertsView {
  static place = 'alerts';

  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.places = new Places();
    this.unfolded = new Set();
    this.frozen = null;
    this.taps = new Taps(place, this.places, (key) => this.#tapped(key));
  }

  draw(changes, look) {
    if (!this.taps.frozen) this.frozen = null;
    else this.frozen ??= this.shown;
    const { t } = this.app.words;
    const wanted = { mine: lines(look.mine, look.flood), others: lines(look.others, look.flood), closed: look.closed };
    const shown = this.frozen ? kept(this.frozen, wanted) : wanted;
    this.shown = shown;
    render(
      html`<h1 class="quiet">${t('list.label')}</h1>
        ${shown.mine.length ? this.#list(shown.mine, look) : this.#nothing(look, t)}
        ${shown.others.length ? html`<h2>${t('others')}</h2>${this.#list(shown.others, look)}` : nothing}
        ${shown.closed.length ? html`<ul class="list past">${repeat(shown.closed, ({ key }) => key, (item) => this.#past(item, look))}</ul>` : nothing}`,
      this.place,
    );
    this.places.note(this.place);
  }

  key(key) {
    const row = document.activeElement?.closest('[data-key]');
    const item = row && this.shown?.mine.find((one) => one.key === row.dataset.key);
    if (!item?.alert) return false;
    if (key === 'g') this.#going(item);
    else if (key === 'c') this.app.frame.sheet.open('rule', item.table, item.key);
    else return false;
    return true;
  }

  /** "Nothing open" is said only when it is known. */
  #nothing({ seen, others, later }, t) {
    const total = this.app.hall.tables.size;
    if (seen !== 'ok' || !total) {
      const why = { none: 'no_alerts_account', blind: 'blind.short' }[seen] ?? 'alerts_waiting';
      return html`<p class="empty unseen">${seen === 'waiting' ? '' : '✕ '}${t(why)}</p>`;
    }
    if (others.length || later) return html`<p class="empty">${t('none_open_mine')}</p>`;
    return html`<p class="empty">${t('none_open', { total })}</p>`;
  }

  #list(items, look) {
    return html`<ul class="list">${repeat(items, ({ key }) => key, (item) => (item.items ? this.#group(item, look) : this.#row(item, look)))}</ul>`;
  }

  #row(item, { at, until, hears }) {
    const { words, hall } = this.app;
    const { t } = words;
    const table = hall.tables.get(item.table);
    const detail = item.alert ? sentence(item.alert) : (item.detail ?? '');
    const where = item.table ?? item.gateway;
    return html`<li class="line ${item.severity} ${item.attended ? 'attended' : ''}" data-key=${item.key} tabindex="0">
      <div class="what">
        <span class="sign" role="img" aria-label=${t(`sign.${item.severity}`)}>${SIGNS[item.severity]}</span>
        <span class="number">${where}</span>
        <span class="name"><span class="kind">${words.kind(item.kind)}</span> ${item.side ? t(item.side) : nothing}</span>
        <span class="since">${lasting(until - item.since)}</span>
      </div>
      ${detail ? html`<p class="says">${detail}</p>` : nothing}
      ${table ? html`<p class="facts">${readings(hall.clock(table, at), words)}</p>` : nothing}
      ${item.tables ? html`<p class="facts">${item.tables.map((id) => html`<a href="#/t/${id}">${id}</a> `)}</p>` : nothing}
      <div class="row">${this.#going_(item, hears)}${this.#later(item)}
        ${item.table ? html`<a class="button" href="#/t/${item.table}">${t('to_table', { table: item.table })} ›</a>` : nothing}</div>
    </li>`;
  }

  #going_(item, hears) {
    const { t } = this.app.words;
    if (!item.alert) return nothing;
    const order = this.app.attending?.get(item.key);
    if (item.attended) return html`<span class="who">${t('attended', { who: item.attended })}</span>`;
    if (order?.status === 'sending') return html`<span class="who">${t('order.sending')}</span>`;
    const problem = order && html`<span class="problem">${t(`order.${order.status}`, { error: order.error })}</span>`;
    return html`${problem ?? nothing}<button class="strong" ?disabled=${!hears} @click=${() => this.#going(item, order)}>${t('going')}</button>`;
  }

  #going(item, order) {
    const orders = (this.app.attending ??= new Map());
    if (order && order.status !== 'refused') this.app.commands.again(order);
    else orders.set(item.key, this.app.commands.give(item.table, { command: 'attend', alert_id: item.key }));
  }

  #later(item) {
    if (item.severity !== 'notice') return nothing;
    const put = (minutes) => {
      this.app.later.put(item.key, now() + minutes * 60_000);
      this.app.prefs.set('later', this.app.later.saved(now()));
      this.app.touch();
    };
    return LATER_MIN.map((minutes) => html`<button class="later" @click=${() => put(minutes)}>${this.app.words.t(`later.${minutes}`)}</button>`);
  }

  #group(group, look) {
    const { words } = this.app;
    const open = this.unfolded.has(group.key);
    const toggle = () => {
      if (!this.unfolded.delete(group.key)) this.unfolded.add(group.key);
      this.app.touch();
    };
    const values = { label: words.kind(group.kind), n: group.items.length, time: words.time(group.since) };
    return html`<li class="line group ${group.severity}">
      <div class="what"><span class="sign" role="img" aria-label=${words.t(`sign.${group.severity}`)}>${SIGNS[group.severity]}</span>
        <span class="kind">${words.t('group', values)}</span></div>
      <p class="facts">${group.items.map((item) => html`<a class="button" href="#/t/${item.table}">${item.table}</a> `)}</p>
      <div class="row"><button aria-expanded=${open} @click=${toggle}>${words.t(open ? 'close_group' : 'open_group')}</button></div>
      ${open ? this.#list(group.items, look) : nothing}
    </li>`;
  }

  #past(item, { at }) {
    const { words } = this.app;
    return html`<li class="line cleared" data-key=${item.key} tabindex="0"><div class="what"><span class="number">${item.table}</span>
      <span class="name kind">${words.kind(item.kind)}</span>
      <span class="since">${words.t(item.how === 'ruled' ? 'ruled' : 'cleared', { age: words.age(at - item.closedAt) })}</span></div></li>`;
  }

  #tapped(key) {
    const table = tableOf(this.app.hall, key);
    this.app.router.go(...(table ? ['t', table] : ['tech']));
  }
}

/** What was shown, in that order, with what is known of each now; what is new waits, what is gone stays put. */
function kept(before, wanted) {
  const fresh = new Map([...wanted.mine, ...wanted.others].map((item) => [item.key, item]));
  const refreshed = (items) => items.map((item) => fresh.get(item.key) ?? item);
  return { mine: refreshed(before.mine), others: refreshed(before.others), closed: before.closed };
}
