// Orders of receipts as they are sent to a thread: objects take several times as long as their text.
import type { KeyObject } from 'node:crypto';
import type { ReceiptOrder } from './issue-answer.ts';

export interface SentOrders {
  /** JSON. */
  readonly text: string;
  /** The private key of each: one that repeats is sent once. */
  readonly keys: readonly KeyObject[];
}

export const sentOrders = (orders: readonly ReceiptOrder[]): SentOrders => ({
  text: JSON.stringify(orders.map(({ privateKey: _, ...order }) => order)),
  keys: orders.map(({ privateKey }) => privateKey),
});

export function receivedOrders({ text, keys }: SentOrders): ReceiptOrder[] {
  const orders = JSON.parse(text) as Omit<ReceiptOrder, 'privateKey'>[];
  return orders.map(({ answer, now, ...order }, at) => ({
    ...order,
    answer: 'document' in answer ? answer : withTimes(answer),
    now: new Date(now),
    privateKey: keys[at] as KeyObject,
  }));
}

/** JSON has times as text. */
function withTimes({ start, end }: Exclude<ReceiptOrder['answer'], { readonly document: unknown }>) {
  return {
    start: { ...start, receivedAt: new Date(start.receivedAt) },
    end: { ...end, firstTokenAt: end.firstTokenAt && new Date(end.firstTokenAt) },
  };
}
