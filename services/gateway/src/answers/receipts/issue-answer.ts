// Issues the receipt of one answer: its document, signed, and the leaf for the ledger.
import { hash, type KeyObject, sign } from 'node:crypto';
import { prepareReceipt } from '@strata/receipts';
import type { AnswerUsage } from '../../store/answers/answers.ts';
import { type AnswerEnd, type AnswerReceipt, type AnswerStart, receiptOf, usageOf, usedOf } from './answer-receipt.ts';

/** All that a receipt needs, as values that another thread can receive. */
export interface ReceiptOrder {
  readonly receiptId: string;
  /** The document, or what it is made of. */
  readonly answer: { readonly start: AnswerStart; readonly end: AnswerEnd } | { readonly document: AnswerReceipt };
  readonly now: Date;
  readonly publicKeyUrl: string;
  /** Thumbprint of the public key. */
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

/** As text: a thread sends it in a third of the time of objects. */
export interface IssuedReceipt {
  /** The signed receipt, JSON. */
  readonly body: string;
  /** JSON in ASCII. */
  readonly leaf: string;
}

export interface IssuedAnswer extends IssuedReceipt {
  readonly receiptId: string;
  readonly keyId: string;
  readonly used: AnswerUsage;
}

/** The id is assigned before. */
const NO_RANDOM = new Uint8Array();

/** Throws CanonicalFormError for an answer that JSON cannot represent. */
export function issueReceiptOf({
  receiptId,
  answer,
  now,
  keyId,
  privateKey,
  publicKeyUrl,
}: ReceiptOrder): IssuedReceipt {
  const document = 'document' in answer ? answer.document : receiptOf(answer.start, answer.end, now);
  const { signedBytes, finish } = prepareReceipt(document, {
    ...{ receiptId, now, publicKeyUrl, random: NO_RANDOM, signer: { keyId } },
    digest: (bytes) => hash('sha256', bytes, 'buffer'),
  });
  const { leaf, text } = finish(sign(null, signedBytes, privateKey));
  return { body: text(), leaf: Buffer.from(leaf.buffer, leaf.byteOffset, leaf.length).toString('latin1') };
}

/** With what the receipt counts. */
export function issuedAnswer({ receiptId, answer, now }: ReceiptOrder, { body, leaf }: IssuedReceipt): IssuedAnswer {
  const used = 'document' in answer ? usedOf(answer.document) : usageOf(answer.start, answer.end, now);
  return { receiptId, keyId: used.keyId, used, body, leaf };
}

/** Throws CanonicalFormError for an answer that JSON cannot represent. */
export const issueAnswer = (order: ReceiptOrder): IssuedAnswer => issuedAnswer(order, issueReceiptOf(order));
