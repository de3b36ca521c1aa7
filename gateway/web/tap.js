// Taps on things that move. What was pressed is what is opened, whatever has come under the finger since; and a row
// that moved a moment ago was not aimed at.

import { now } from './time.js';

const SLACK_PX = 12;
const MOVED = 500;
const REST = 1000;

/** Watches the places of keyed elements, so that a tap on one that has just moved can be ignored. */
export class Places {
  #top = new Map();
  #moved = new Map();

  /** To be called after each drawing. */
  note(container) {
    const at = now();
    const seen = new Map();
    for (const element of container.querySelectorAll('[data-key]')) {
      const place = `${element.offsetLeft},${element.offsetTop}`;
      const key = element.dataset.key;
      seen.set(key, place);
      if (this.#top.has(key) && this.#top.get(key) !== place) this.#moved.set(key, at);
      if (!this.#top.has(key) && this.#top.size) this.#moved.set(key, at);
    }
    this.#top = seen;
  }

  steady(key) {
    return now() - (this.#moved.get(key) ?? -Infinity) > MOVED;
  }
}

export class Taps {
  #pressed = null;
  #until = 0;

  /**
   * @param container whose `[data-key]` elements are tapped; buttons and links inside them are left alone
   * @param places where they were drawn
   * @param opened `(key)`: told of each tap
   */
  constructor(container, places, opened) {
    container.addEventListener('pointerdown', (event) => this.#press(event, places));
    container.addEventListener('pointerup', (event) => this.#release(event, opened));
    for (const type of ['pointercancel', 'pointerleave']) container.addEventListener(type, () => this.#let());
    // A key, or a reader's own press, has no finger that things could move under.
    container.addEventListener('click', (event) => {
      const key = keyOf(event);
      if (key && event.detail === 0) opened(key);
    });
  }

  /** Whether the order must stay as it is: a finger is down, or was a second ago. */
  get frozen() {
    return this.#pressed !== null || now() < this.#until;
  }

  #press(event, places) {
    this.#until = now() + REST;
    const key = keyOf(event);
    this.#pressed = { key: key && places.steady(key) ? key : null, x: event.clientX, y: event.clientY };
  }

  #release(event, opened) {
    const pressed = this.#pressed;
    this.#let();
    if (!pressed?.key) return;
    const still = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < SLACK_PX;
    if (still) opened(pressed.key);
  }

  #let() {
    this.#pressed = null;
    this.#until = now() + REST;
  }
}

function keyOf(event) {
  const inner = event.target.closest('button:not([data-key]), a:not([data-key]), summary');
  const outer = event.target.closest('[data-key]');
  return outer && (!inner || inner.contains(outer)) ? outer.dataset.key : null;
}
