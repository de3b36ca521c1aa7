// Commands and their answers. Nothing is done before the gateway has said so.

export const PATIENCE = 3000;

/** Random, and to be had on plain http too, where `crypto.randomUUID` is not. */
function freshId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One command on its way. `status`: sending, done, refused, unconfirmed, offline. */
export class Order {
  constructor(table, command) {
    this.table = table;
    this.command = command;
    this.id = freshId();
    this.status = 'sending';
    /** The gateway's own sentence, where it refused. */
    this.error = null;
  }
}

export class Commands {
  #orders = new Map();

  /**
   * @param send `(topic, payload) -> boolean`: whether it could be sent
   * @param changed called when an order has changed
   */
  constructor(root, send, changed) {
    this.root = root;
    this.send = send;
    this.changed = changed;
    this.by = null;
  }

  give(table, command) {
    const order = new Order(table, command);
    this.#orders.set(order.id, order);
    this.again(order);
    return order;
  }

  /** Send it, once more if need be; with the same id, so that it is never carried out twice. */
  again(order) {
    const payload = { ...order.command, id: order.id, by: this.by };
    const sent = this.send(`${this.root}/arbiter/${order.table}/command`, payload);
    order.status = sent ? 'sending' : 'offline';
    clearTimeout(order.timer);
    if (sent) order.timer = setTimeout(() => this.#unconfirmed(order), PATIENCE);
    this.changed(order);
  }

  /** An answer came; it may be late, or the second one. */
  reply(answer) {
    const order = this.#orders.get(answer?.id);
    if (!order || order.status === 'done' || order.status === 'refused') return;
    clearTimeout(order.timer);
    order.error = answer.error ?? null;
    order.status = answer.ok ? 'done' : 'refused';
    this.changed(order);
  }

  /** The connection is gone: whether the orders on their way arrived is not known. */
  lost() {
    for (const order of this.#orders.values()) this.#unconfirmed(order);
  }

  #unconfirmed(order) {
    if (order.status !== 'sending') return;
    clearTimeout(order.timer);
    order.status = 'unconfirmed';
    this.changed(order);
  }
}
