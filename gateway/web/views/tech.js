// For the technician: the worst first, in plain reasons. Before a round: how many are ready, and which are not.

import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { SIGNS, trouble } from './words.js';

/** A piece in the air is no difference. */
const SETTLED = 10_000;

/** The sign of how bad it is. */
const mark = (weight) => (weight > 1 ? SIGNS.gone : weight ? SIGNS.notice : '✓');

export class TechView {
  static place = 'tech';

  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.follows = 'arbiter/+/board';
  }

  draw(changes, look) {
    const { hall, words } = this.app;
    const { t } = words;
    const rows = hall.sorted().map((table) => this.#judge(table, look.at));
    const ready = rows.filter((row) => !row.weight);
    const missing = rows.filter((row) => row.weight).sort((a, b) => b.weight - a.weight);
    render(
      html`<h1>${t('tech.ready', { count: ready.length, total: rows.length })}${missing.map(({ table, weight }) => html` <small>${mark(weight)}${table.id}</small>`)}</h1>
        ${this.#gateways(look.at)}
        <ul class="techs">${rows.sort((a, b) => b.weight - a.weight).map((row) => this.#row(row, look.at))}</ul>`,
      this.place,
    );
  }

  /** How bad it is, and why, in words. */
  #judge(table, at) {
    const { hall, words } = this.app;
    const presence = hall.presence(table, at);
    const link = table.value('link');
    const differs = table.value('board')?.differs ?? [];
    const reasons = [];
    if (presence.state !== 'live') reasons.push(trouble(presence, words));
    if (link?.detail) reasons.push(link.detail);
    if (link?.clock === 'down') reasons.push(words.t('gone.clock_down'));
    if (table.value('clock')?.battery_low) reasons.push(words.t('battery_low'));
    if (differs.length && at - table.oddSince > SETTLED) reasons.push(words.t('tech.differs', { squares: differs.join(', ') }));
    const weight = presence.state !== 'live' ? 3 : link?.clock === 'down' ? 2 : reasons.length ? 1 : 0;
    return { table, weight, reasons };
  }

  #gateways(at) {
    const { hall, words } = this.app;
    return html`<ul class="gateways">${[...hall.gateways.values()].map((gateway) => {
      const { state, since } = hall.gatewayState(gateway.id, at);
      const health = gateway.health?.value;
      return html`<li class=${state === 'online' ? '' : 'gone'}>${state === 'online' ? '✓' : '✕'} <b>${gateway.id}</b> ${words.t(`tech.${state}`)}
        ${since ? words.t('since', { time: words.time(since) }) : nothing}
        ${health?.outbox ? words.t('tech.outbox', { count: health.outbox }) : nothing} ${(health?.problems ?? []).join('. ')}</li>`;
    })}</ul>`;
  }

  #row({ table, weight, reasons }, at) {
    const { hall, words } = this.app;
    const { t } = words;
    const link = table.value('link') ?? {};
    const counters = hall.gateways.get(link.gateway)?.health?.value.links?.[table.id];
    const bad = counters && Object.values(counters.rejected).reduce((sum, count) => sum + count, 0);
    const time = (stamp) => (stamp ? words.time(hall.ours(link.gateway, Date.parse(stamp))) : null);
    const clock = hall.clock(table, at);
    const facts = [
      ['gateway', link.gateway],
      ['board', link.board && `${link.driver} ${t(`tech.${link.board}`)}`],
      ['clock', link.clock && t(`tech.${link.clock}`) + (clock && clock.running !== 'none' ? `, ${t(clock.running)} ▸` : '')],
      ['serial', link.serial],
      ['since', time(link.since)],
      ['last', time(counters?.last_frame ?? link.last_frame)],
      ['bad', bad || null],
      ['battery', link.battery === null || link.battery === undefined ? null : `${link.battery} %`],
      ['lies', table.value('position')?.orientation && t(`value.${table.value('position').orientation}`)],
    ].filter(([, value]) => value);
    return html`<li class=${weight > 1 ? 'gone' : weight ? 'notice' : ''}><a href="#/t/${table.id}"><span class="number">${table.id}</span>
      <span class="judged">${mark(weight)} ${reasons.join('; ') || t('tech.ok')}</span></a>
      <span class="facts">${facts.map(([name, value]) => html`<span><small>${t(`tech.${name}`)}</small> ${value}</span>`)}</span></li>`;
  }
}
