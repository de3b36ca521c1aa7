// Time as the page needs it. Everything is in milliseconds on one scale that no change of the phone's clock can bend.

/** Now: the phone's clock when the page was opened, going on by itself from there. */
export const now = () => performance.timeOrigin + performance.now();

const BUCKET = 10_000;
const BUCKETS = 6;

/**
 * How far a gateway's clock is from ours: the smallest (arrival - time) of the last minute.
 * A phone's clock is not trusted, and a message is never early, so the smallest is nearest to the truth.
 */
export class Offset {
  #least = new Map();

  note(arrival, stamp) {
    const bucket = Math.floor(arrival / BUCKET);
    const difference = arrival - stamp;
    this.#least.set(bucket, Math.min(difference, this.#least.get(bucket) ?? Infinity));
    for (const old of this.#least.keys()) if (old <= bucket - BUCKETS) this.#least.delete(old);
  }

  /** The offset; 0 as long as nothing live was heard. */
  get value() {
    return this.#least.size ? Math.min(...this.#least.values()) : 0;
  }
}

const two = (number) => String(number).padStart(2, '0');

/** A clock reading: `h:mm:ss` from an hour, else `m:ss`. Seconds in; no tenths are invented. */
export function reading(seconds) {
  if (seconds === null || seconds === undefined) return '--:--';
  const whole = Math.max(0, Math.ceil(seconds - 0.001));
  const [hour, minute, second] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hour ? `${hour}:${two(minute)}:${two(second)}` : `${minute}:${two(second)}`;
}

/** How long something lasts already: `0:18`, `1:02:03`. */
export const lasting = (ms) => reading(Math.floor(Math.max(0, ms) / 1000));
