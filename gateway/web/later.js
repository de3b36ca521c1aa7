// Notices put off on this phone: for some minutes, or until they grow to an alert. Alerts cannot be put off.

export class Later {
  constructor(saved) {
    this.until = new Map(saved ?? []);
  }

  put(key, until) {
    this.until.set(key, until);
  }

  /** Whether this line is out of sight now. */
  hides(item, at) {
    return item.severity === 'notice' && (this.until.get(item.key) ?? 0) > at;
  }

  saved(at) {
    return [...this.until].filter(([, until]) => until > at);
  }
}
