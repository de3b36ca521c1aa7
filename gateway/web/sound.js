// When to call, and the call itself: two tones, for an `alert` only, and once for all of one cause.

const AGAIN = 60_000;
/** Alerts of one cause within this time are one call. */
const TOGETHER = 10_000;

/** Decides; pure. */
export class Calls {
  #told = new Map();
  #causes = new Map();

  /**
   * @param items of the list; those that were there before the page came make no sound
   * @param flood whether alerts come faster than people can take them: then a cause that goes on calls once
   * @returns whether to sound now
   */
  due(items, flood, at) {
    let call = false;
    const here = new Set();
    for (const { key, kind, severity, attended, alert } of items) {
      if (severity !== 'alert' || !alert) continue;
      here.add(key);
      const told = this.#told.get(key);
      if (told === undefined) {
        this.#told.set(key, { at, again: false });
        if (!alert.news) continue;
        const last = this.#causes.get(kind) ?? -Infinity;
        if (at - last >= (flood ? AGAIN : TOGETHER)) call = true;
        this.#causes.set(kind, at);
      } else if (!told.again && alert.news && !attended && at - told.at >= AGAIN) {
        told.again = true;
        const repeated = at - (this.#causes.get(`again ${kind}`) ?? -Infinity) < AGAIN;
        this.#causes.set(`again ${kind}`, at);
        if (!repeated && !flood) call = true;
      }
    }
    for (const key of this.#told.keys()) if (!here.has(key)) this.#told.delete(key);
    return call;
  }
}

/** Plays; browsers allow it only after a tap. */
export class Sound {
  #context = null;

  /** To be called from a tap. */
  arm() {
    try {
      this.#context ??= new AudioContext();
      this.#context.resume();
    } catch {
      // No sound device: the page says that it is silent.
    }
  }

  get armed() {
    return this.#context?.state === 'running';
  }

  play() {
    if (!this.armed) return;
    const start = this.#context.currentTime;
    for (const [index, frequency] of [660, 880].entries()) {
      const tone = this.#context.createOscillator();
      const volume = this.#context.createGain();
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.0001, start + index * 0.22);
      volume.gain.exponentialRampToValueAtTime(0.4, start + index * 0.22 + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.0001, start + index * 0.22 + 0.2);
      tone.connect(volume).connect(this.#context.destination);
      tone.start(start + index * 0.22);
      tone.stop(start + index * 0.22 + 0.21);
    }
    navigator.vibrate?.([120, 80, 120]);
  }
}
