// Joins the parts: messages into the state, the state onto the screen, at most once per frame.

import { Commands } from './commands.js';
import { choose, load } from './i18n.js';
import { Later } from './later.js';
import { Link } from './link.js';
import { Keys } from './keys.js';
import { Flood, closed, mine, open } from './order.js';
import { prefs } from './prefs.js';
import { Router } from './router.js';
import { Calls, Sound } from './sound.js';
import { Hall } from './state.js';
import { now } from './time.js';
import { Wake } from './wake.js';
import { Frame } from './views/frame.js';
import { Login } from './views/login.js';

const TICK = 250;
/** Milliseconds from one drawing to the next: sixty tables of blitz change something in every frame of a screen. */
const APART = 40;
/** Half of what comes is clocks, which say the same again in a second: they need no receipt. */
const UNRECEIPTED = 'table/+/clock';
const PUBLIC_TOPICS = ['table/+/link', 'table/+/position', UNRECEIPTED, 'table/+/game', 'gateway/+/status'];
const ARBITER_TOPICS = ['gateway/+/health', 'arbiter/+/alerts', 'arbiter/+/event/alert', 'arbiter/+/reply'];

/** Where the broker is, if the server did not say: beside this page. */
function besides(port) {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.hostname}:${port}`;
}

class App {
  constructor(settings, words) {
    this.settings = settings;
    this.words = words;
    this.prefs = prefs;
    this.hall = new Hall(settings.root);
    this.later = new Later(prefs.get('later'));
    this.flood = new Flood();
    this.calls = new Calls();
    this.sound = new Sound();
    this.changes = nothingChanged();
    this.drawing = false;
    this.drawnAt = 0;
    this.checking = false;
    this.spectator = location.hash.startsWith('#/public');
    const wanted = [...PUBLIC_TOPICS, ...(this.spectator ? [] : ARBITER_TOPICS)];
    const topics = Object.fromEntries(
      wanted.map((topic) => [`${settings.root}/${topic}`, { qos: topic === UNRECEIPTED ? 0 : 1 }]),
    );
    this.link = new Link(settings.broker_url ?? besides(settings.broker_port), topics, {
      message: (topic, text, retained) => this.#take(topic, text, retained),
      heard: () => (this.hall.heardAt = now()),
      state: (state) => this.#linkChanged(state),
      denied: (denied) => this.#denied(denied),
      checking: (on) => this.#check(on),
    });
    this.commands = new Commands(
      settings.root,
      (topic, payload) => this.link.send(topic, payload),
      () => this.touch(),
    );
    this.commands.by = prefs.get('initials') || null;
    this.router = new Router(() => this.show());
    this.frame = new Frame(this);
    this.keys = new Keys(this);
    this.wake = new Wake(() => Boolean(this.link.account) && prefs.get('awake') !== false);
    setInterval(() => this.#tick(), TICK);
    document.addEventListener('visibilitychange', () => this.touch());
  }

  start() {
    const account = prefs.account;
    if (account) this.link.start(account);
    this.show();
  }

  login(account, own, initials) {
    prefs.keepAccount(account, own);
    prefs.set('initials', initials);
    this.commands.by = initials || null;
    this.sound.arm();
    this.link.start(account);
    this.show();
  }

  logout() {
    prefs.forgetAccount();
    this.link.stop();
    this.hall = new Hall(this.settings.root);
    this.show();
  }

  async speak(language) {
    prefs.set('language', language);
    this.words = await load(language, this.settings.zone);
    this.show();
  }

  /** Show the screen of the address, or the login. */
  show() {
    document.body.classList.toggle('login', !this.link.account || this.link.state === 'refused');
    if (!this.link.account || this.link.state === 'refused') this.frame.mount(Login);
    else this.frame.mount(this.router.view, this.router.argument);
    this.#follow(this.frame.view?.follows);
    this.wake.check();
    this.touch();
  }

  /** What stands on boards changes with every piece in a hand: only a screen that shows it hears of it. */
  #follow(topic) {
    const followed = topic && !this.spectator ? `${this.settings.root}/${topic}` : null;
    if (this.link.follow(followed)) this.hall.forgetBoards();
  }

  // --- what is open, worked out once per frame ---

  look(at) {
    const items = open(this.hall, at);
    const own = mine(prefs.get('tables'));
    const isMine = (item) => (item.tables ?? [item.table]).some(own);
    const flood = this.flood.judge(items, at);
    const shown = items.filter((item) => !this.later.hides(item, at));
    if (this.hall.hears(at) && this.calls.due(items.filter(isMine), flood, at) && prefs.get('sound') !== false) {
      this.sound.play();
    }
    const hears = this.hall.hears(at);
    return {
      at,
      // How long an alert lasts is counted only while we hear whether it still does.
      until: hears ? at : (this.hall.heardAt ?? at),
      items: shown,
      mine: shown.filter(isMine),
      others: shown.filter((item) => !isMine(item)),
      later: items.length - shown.length,
      closed: closed(this.hall, at),
      flood,
      seen: this.hall.alertsSeen(at),
      hears,
    };
  }

  // --- messages and frames ---

  #take(topic, text, retained) {
    const about = this.hall.take(topic, text, retained, now());
    if (about?.reply) this.commands.reply(about.reply);
    if (!about?.table) return;
    this.changes.tables.add(about.table.id);
    if (topic.includes('/alerts')) this.changes.alerts = true;
    this.#draw();
  }

  #tick() {
    this.changes.tick = true;
    this.#draw();
  }

  #linkChanged(state) {
    if (state === 'live') this.hall.connect(now());
    else this.hall.disconnect(now());
    if (state === 'lost' || state === 'refused') this.commands.lost();
    if (state === 'refused') this.show();
    this.touch();
  }

  #denied(topics) {
    if (topics.some((topic) => topic.includes('/arbiter/'))) this.hall.refused = true;
    this.touch();
  }

  #check(on) {
    this.checking = on;
    this.touch();
  }

  /** Have everything drawn again. */
  touch() {
    this.changes.all = true;
    this.#draw();
  }

  /** One drawing for all that came since the last, in the next frame but never sooner than `APART` after that one. */
  #draw() {
    if (this.drawing) return;
    this.drawing = true;
    const wait = Math.max(0, this.drawnAt + APART - performance.now());
    setTimeout(() => requestAnimationFrame(() => this.#paint()), wait);
  }

  #paint() {
    this.drawing = false;
    this.drawnAt = performance.now();
    const { changes } = this;
    this.changes = nothingChanged();
    this.frame.draw(changes, this.look(now()));
  }
}

/** What is to be drawn: tables by id, what depends on alerts, what time alone has changed, or everything. */
function nothingChanged() {
  return { tables: new Set(), alerts: false, tick: false, all: false };
}

const settings = await (await fetch('hall.json')).json();
const app = new App(settings, await load(choose(prefs.get('language'), settings.languages), settings.zone));
app.start();
