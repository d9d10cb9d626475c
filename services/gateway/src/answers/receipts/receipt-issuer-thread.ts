// The thread of `ReceiptIssuer`: receives batches of orders, and answers each with its receipts in the same order.
import { parentPort } from 'node:worker_threads';
import { type IssuedAnswer, issueAnswer, type ReceiptOrder } from './issue-answer.ts';

export type IssueResult = { readonly issued: IssuedAnswer } | { readonly error: unknown };

function resultOf(order: ReceiptOrder): IssueResult {
  try {
    return { issued: issueAnswer(order) };
  } catch (error) {
    return { error };
  }
}

parentPort?.on('message', (orders: readonly ReceiptOrder[]) => parentPort?.postMessage(orders.map(resultOf)));
// It is ready.
parentPort?.postMessage([]);
