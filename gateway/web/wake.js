// Keeps the screen on while the page is in sight, where the browser lets it: over https, and on this machine.

/** Whether there is a way at all. */
export const possible = () => 'wakeLock' in navigator;

export class Wake {
  #lock = null;
  #asking = false;

  /** @param wanted whether the screen shall stay on now */
  constructor(wanted) {
    this.wanted = wanted;
    document.addEventListener('visibilitychange', () => this.check());
  }

  /** Ask for it, or let it go, as it is wanted now. The browser takes it away with every page that is put aside. */
  async check() {
    const wanted = possible() && document.visibilityState === 'visible' && this.wanted();
    if (!wanted) {
      this.#lock?.release();
      this.#lock = null;
    } else if ((!this.#lock || this.#lock.released) && !this.#asking) {
      this.#asking = true;
      try {
        this.#lock = await navigator.wakeLock.request('screen');
      } catch {
        // The battery is low, or the browser knows better: the screen then goes dark as it always did.
      }
      this.#asking = false;
    }
  }
}
