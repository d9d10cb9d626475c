// The thread of `ReceiptIssuer`: receives batches of orders, and answers each with its receipts in the same order.
import { parentPort } from 'node:worker_threads';
import { type IssuedReceipt, issueReceiptOf, type ReceiptOrder } from './issue-answer.ts';

/** Undefined for an order that fails: errors lose their class between threads. */
function issued(order: ReceiptOrder): IssuedReceipt | undefined {
  try {
    return issueReceiptOf(order);
  } catch {
    return undefined;
  }
}

parentPort?.on('message', (orders: readonly ReceiptOrder[]) => parentPort?.postMessage(orders.map(issued)));
// It is ready.
parentPort?.postMessage([]);
