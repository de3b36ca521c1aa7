// What the hall looks like: messages and time in, values out. Pure: no page, no connection, no clock of its own.
//
// Everything that arrives carries `time`, the moment of the observation. A value is `live` only if it came on this
// connection and not as retained state; what is older is shown, but never as if it were now.

import { Heard, Table, takeAlerts, takeBoard, takeGame } from './table.js';
import { Offset } from './time.js';

/** A message that took longer than this is taken, but its clock does not tick. */
export const LATE = 2000;
/** A running clock that has not been heard of for this long is stale. */
export const STALE = 3000;
/** A gateway says how it is every 10 s; after two and a half of them it is silent. */
export const SILENT = 25_000;
/** How long the broker may say nothing, though asked, before the page calls itself blind. */
export const DEAF = 3000;
/** How long arbiters' topics may take after the first table is seen. */
export const ALERTS_WITHIN = 2000;
/** How long an alert that went by itself stays in sight. */
export const CLEARED_FOR = 60_000;

const TABLE_KINDS = new Set(['link', 'position', 'clock', 'game']);
const ARBITER_KINDS = new Set(['alerts', 'board']);

export class Hall {
  constructor(root) {
    this.root = root;
    this.tables = new Map();
    this.gateways = new Map();
    this.offsets = new Map();
    /** Counts connections; 0 before the first. */
    this.session = 0;
    this.connected = false;
    this.since = null;
    /** When the broker last said anything at all, be it the answer to a ping. */
    this.heardAt = null;
    /** The broker refused the arbiters' topics. */
    this.refused = false;
    this.firstTableAt = null;
  }

  // --- the connection ---

  connect(at) {
    this.session++;
    this.connected = true;
    this.since = this.heardAt = at;
    this.refused = false;
    this.firstTableAt = null;
    // How late messages are is learnt again: the phone may have slept.
    this.offsets.clear();
  }

  disconnect(at) {
    if (this.connected) this.since = at;
    this.connected = false;
  }

  /** What stands on boards is followed no more: it will be heard anew, or not at all. */
  forgetBoards() {
    for (const table of this.tables.values()) {
      delete table.heard.board;
      table.oddSince = null;
    }
  }

  /** Whether what is shown may be called live. */
  hears(at) {
    return this.connected && at - this.heardAt < DEAF;
  }

  // --- messages ---

  /**
   * Take one message in.
   *
   * @returns {{table: Table} | {gateway: string} | {reply: object} | null} what it was about
   */
  take(topic, text, retained, at) {
    this.heardAt = at;
    if (!topic.startsWith(this.root + '/')) return null;
    const [branch, id, kind, sub] = topic.slice(this.root.length + 1).split('/');
    if (branch === 'arbiter' && kind === 'reply') return { reply: parsed(text) };
    if (branch === 'gateway') return this.#gateway(id, kind, parsed(text), retained, at);
    if (branch === 'arbiter' && kind === 'event') return this.#event(id, sub, parsed(text));
    const known = branch === 'table' ? TABLE_KINDS : branch === 'arbiter' ? ARBITER_KINDS : null;
    if (!known?.has(kind)) return null;
    return this.#table(id, kind, text, retained, at);
  }

  #gateway(id, kind, value, retained, at) {
    if (kind !== 'status' && kind !== 'health') return null;
    const gateway = this.gateways.get(id) ?? { id, status: null, statusAt: at, health: null };
    this.gateways.set(id, gateway);
    if (kind === 'status') {
      if (gateway.status?.state !== value?.state) gateway.statusAt = at;
      gateway.status = value;
    } else if (value) {
      gateway.health = this.#heard(value, id, retained, at);
    }
    return { gateway: id };
  }

  #table(id, kind, text, retained, at) {
    const value = parsed(text);
    const table = this.tables.get(id) ?? new Table(id);
    if (!value) {
      // An empty payload clears the topic: the table has moved, or is no more.
      delete table.heard[kind];
      if (kind === 'alerts') table.alerts.clear();
      if (!Object.keys(table.heard).length) this.tables.delete(id);
      return { table };
    }
    this.tables.set(id, table);
    this.firstTableAt ??= at;
    const source = kind === 'link' ? value.gateway : table.gateway;
    const before = table.value(kind);
    table.heard[kind] = this.#heard(value, source ?? id, retained, at);
    if (kind === 'board') takeBoard(table, this.ours(source ?? id, table.heard.board.stamp));
    if (kind === 'alerts') takeAlerts(table, value.alerts, retained, at);
    if (kind === 'game') takeGame(table, before, value, at);
    return { table };
  }

  #event(id, kind, value) {
    const table = this.tables.get(id);
    if (!table || !value || kind !== 'alert') return null;
    const known = table.closed.find((closed) => closed.alert.alert_id === value.alert_id);
    if (value.state === 'acknowledged') {
      if (known) known.how = 'ruled';
      else (table.ruled ??= new Set()).add(value.alert_id);
    }
    if (value.severity === 'info' && value.state === 'raised') {
      table.infos = [value, ...table.infos.filter((info) => info.game_id === value.game_id)].slice(0, 20);
    }
    return { table };
  }

  #heard(value, source, retained, at) {
    const stamp = Date.parse(value.time);
    if (retained || Number.isNaN(stamp)) return new Heard(value, at, stamp, 0, Infinity);
    if (!this.offsets.has(source)) this.offsets.set(source, new Offset());
    const offset = this.offsets.get(source);
    offset.note(at, stamp);
    return new Heard(value, at, stamp, this.session, at - stamp - offset.value);
  }

  // --- what follows ---

  /** A moment of this gateway's clock on ours. */
  ours(source, stamp) {
    return stamp + (this.offsets.get(source)?.value ?? 0);
  }

  /** Milliseconds since what is in this topic was observed. */
  age(table, kind, at) {
    const heard = table.heard[kind];
    return heard ? Math.max(0, at - this.ours(table.gateway ?? table.id, heard.stamp)) : null;
  }

  /** A gateway as it must be judged now: `online`, `offline`, `silent` or `unknown`, and since when. */
  gatewayState(id, at) {
    const gateway = this.gateways.get(id);
    if (!gateway?.status) return { state: 'unknown', since: null };
    if (gateway.status.state !== 'online') return { state: 'offline', since: gateway.statusAt };
    const health = gateway.health;
    const said = health && this.ours(id, health.stamp);
    // A clock that is never heard of proves nothing: a gateway whose health was only retained gets its time too.
    const last = health && (health.session === this.session ? health.at : Math.max(said, this.since));
    if (health && at - last > SILENT) return { state: 'silent', since: last };
    return { state: 'online', since: null };
  }

  /**
   * How far this table can be believed: `live`, `blind` (we hear nothing), `gone` (its gateway or board is), `none`
   * (nothing was ever heard), with `why` (a word of the dictionary) and `since`.
   */
  presence(table, at) {
    if (!this.hears(at)) return { state: 'blind', why: 'blind', since: this.connected ? this.heardAt : this.since };
    const link = table.value('link');
    const source = table.gateway;
    if (source) {
      const gateway = this.gatewayState(source, at);
      if (gateway.state === 'offline' || gateway.state === 'silent') {
        return { state: 'gone', why: `gateway_${gateway.state}`, since: gateway.since, gateway: source };
      }
    }
    if (!link) return { state: 'none', why: 'no_link', since: null };
    if (link.board !== 'up') {
      const since = link.since ? this.ours(source, Date.parse(link.since)) : null;
      return { state: 'gone', why: `board_${link.board}`, since, detail: link.detail };
    }
    return { state: 'live', why: null, since: null };
  }

  /**
   * The clock as it may be shown: readings in seconds, whose runs, whether the page may count on, and how old it is.
   * `null` where the table has none.
   */
  clock(table, at, presence = this.presence(table, at)) {
    const heard = table.heard.clock;
    if (!heard) return null;
    const { white, black, running, flags } = heard.value;
    const age = this.age(table, 'clock', at);
    const fresh =
      heard.session === this.session && heard.lateness <= LATE && at - heard.at < STALE && age < STALE + LATE;
    const here = presence.state === 'live' && table.value('link')?.clock === 'up';
    const ticks = running !== 'none' && fresh && here;
    // A clock that stands, or has come to its end, needs no news to be right; one that counts does.
    const counts = running !== 'none' && !flags.length && heard.value[running] > 0;
    const spent = ticks ? age / 1000 : 0;
    return {
      white: white === null ? null : white - (running === 'white' ? spent : 0),
      black: black === null ? null : black - (running === 'black' ? spent : 0),
      running,
      flags,
      ticks,
      stale: !here || (counts && !fresh),
      age,
    };
  }

  /** `ok`, `waiting`, `none` (this account sees no alerts) or `blind`. */
  alertsSeen(at) {
    if (!this.hears(at)) return 'blind';
    if (this.refused) return 'none';
    if (this.firstTableAt === null) return 'waiting';
    if ([...this.tables.values()].some((table) => table.heard.alerts)) return 'ok';
    return at - this.firstTableAt > ALERTS_WITHIN ? 'none' : 'waiting';
  }

  /** Tables in the order in which people count: 2 before 12. */
  sorted() {
    return [...this.tables.values()].sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  }
}

function parsed(text) {
  if (!text) return null;
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
