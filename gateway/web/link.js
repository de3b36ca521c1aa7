// The connection to the broker: MQTT 5 over a websocket, each with a client of its own.
//
// A client that has lost its connection is thrown away with everything in it, so nothing can be sent late: mqtt.js
// keeps what is published offline and sends it after the reconnect, which for a ruling would be a disaster.

import mqtt from './vendor/mqtt.esm.js';
import { now } from './time.js';

const BACKOFF = [500, 1000, 2000, 4000, 5000];
const CONNECT_TIMEOUT = 4000;
/** After this long without a word the broker is asked, ... */
const ASK_AFTER = 1500;
/** ... and after this long without an answer it is given up. */
const GIVE_UP = 7000;
const WAKE_TIMEOUT = 1500;
const EXPIRY_S = 10;
/** CONNACK reasons that no second try will mend: bad user name or password, not authorised, banned. */
const REFUSALS = new Set([4, 5, 0x86, 0x87, 0x8a]);

export class Link {
  #client = null;
  #followed = null;
  #attempt = 0;
  #timer = null;
  #heard = 0;

  /**
   * @param url of the broker
   * @param topics to subscribe to, each with the quality that it needs
   * @param on `message(topic, text, retained)`, `state(word)`, `heard()`, `denied(topics)`
   */
  constructor(url, topics, on) {
    this.url = url;
    this.topics = topics;
    this.on = on;
    this.account = null;
    this.state = 'idle';
    setInterval(() => this.#watch(), 500);
    for (const event of ['online', 'pageshow']) addEventListener(event, () => this.retry());
    document.addEventListener('visibilitychange', () => this.#woken());
  }

  /** Connect as this account, and stay connected. */
  start(account) {
    this.account = account;
    this.#attempt = 0;
    this.#open();
  }

  stop() {
    this.account = null;
    this.#drop('idle');
  }

  get connected() {
    return this.state === 'live';
  }

  /** Try at once if nothing is connected or under way. */
  retry() {
    if (this.account && this.state === 'lost') {
      this.#attempt = 0;
      this.#open();
    }
  }

  /** Send now or not at all. Returns whether it was sent. */
  send(topic, payload) {
    if (!this.connected || !this.#client?.connected) return false;
    this.#client.publish(topic, JSON.stringify(payload), {
      qos: 1,
      properties: { messageExpiryInterval: EXPIRY_S },
    });
    return true;
  }

  /** Subscribe to one topic more, or to none, in place of the one before. Returns whether that was another. */
  follow(topic) {
    if (topic === this.#followed) return false;
    const before = this.#followed;
    this.#followed = topic;
    if (this.connected) {
      if (before) this.#client.unsubscribe(before);
      if (topic) this.#subscribe(this.#client, { [topic]: { qos: 1 } });
    }
    return true;
  }

  #open() {
    clearTimeout(this.#timer);
    this.#discard();
    this.#say('connecting');
    const client = mqtt.connect(this.url, {
      protocolVersion: 5,
      clean: true,
      keepalive: 5,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_TIMEOUT,
      queueQoSZero: false,
      resubscribe: false,
      // The default makes a worker out of a blob, which the content security policy refuses.
      timerVariant: 'native',
      clientId: `hall-page-${Math.random().toString(16).slice(2, 10)}`,
      username: this.account.user || undefined,
      password: this.account.password || undefined,
    });
    this.#client = client;
    const current = (action) => (...values) => client === this.#client && action(...values);
    client.on('connect', current(() => this.#connected(client)));
    client.on('packetreceive', current(() => this.#hear()));
    client.on('message', current((topic, payload, packet) => this.on.message(topic, payload.toString(), packet.retain)));
    client.on('error', current((error) => REFUSALS.has(error.code) && this.#drop('refused')));
    client.on('close', current(() => this.#drop('lost')));
  }

  #connected(client) {
    this.#attempt = 0;
    this.#heard = now();
    this.#say('live');
    this.#subscribe(client, this.#followed ? { ...this.topics, [this.#followed]: { qos: 1 } } : this.topics);
  }

  #subscribe(client, topics) {
    client.subscribe(topics, (error, granted) => {
      const denied = (granted ?? []).filter(({ qos, reasonCode }) => (reasonCode ?? qos) >= 0x80).map(({ topic }) => topic);
      if (client === this.#client && denied.length) this.on.denied(denied);
    });
  }

  #hear() {
    this.#heard = now();
    this.on.heard();
  }

  #watch() {
    if (!this.connected) return;
    const silence = now() - this.#heard;
    if (silence > GIVE_UP) this.#drop('lost');
    else if (silence > ASK_AFTER && this.#client.connected) this.#client.sendPing();
  }

  /** A phone that was in a pocket may hold a connection that is long dead: ask, and wait only a moment. */
  #woken() {
    if (document.visibilityState !== 'visible') return;
    this.retry();
    if (!this.connected) return;
    const asked = now();
    this.on.checking(true);
    this.#client.sendPing();
    setTimeout(() => {
      this.on.checking(false);
      if (this.connected && this.#heard < asked) {
        this.#drop('lost');
        this.retry();
      }
    }, WAKE_TIMEOUT);
  }

  #drop(state) {
    clearTimeout(this.#timer);
    this.#discard();
    this.#say(state);
    if (state !== 'lost' || !this.account) return;
    const pause = BACKOFF[Math.min(this.#attempt++, BACKOFF.length - 1)];
    this.#timer = setTimeout(() => this.#open(), pause * (0.75 + Math.random() / 2));
  }

  #discard() {
    const client = this.#client;
    this.#client = null;
    client?.end(true);
    // What a dying client still has to say is of no interest, but an error without a listener would be thrown.
    client?.on('error', () => {});
  }

  #say(state) {
    if (state === this.state) return;
    this.state = state;
    this.on.state(state);
  }
}
