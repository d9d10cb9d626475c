// Issues the receipt of one answer: its document, signed, and the leaf for the ledger.
import { hash, type KeyObject, sign } from 'node:crypto';
import { issueReceipt } from '@strata/receipts';
import type { AnswerUsage } from '../../store/answers/answers.ts';
import { type AnswerEnd, type AnswerReceipt, type AnswerStart, receiptOf, usedOf } from './answer-receipt.ts';

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

export interface IssuedAnswer {
  readonly receiptId: string;
  readonly keyId: string;
  readonly used: AnswerUsage;
  /** The signed receipt, JSON. */
  readonly body: string;
  readonly leaf: Uint8Array;
}

/** The id is assigned before. */
const NO_RANDOM = new Uint8Array();

/** Throws CanonicalFormError for an answer that JSON cannot represent. */
export function issueAnswer({ receiptId, answer, now, keyId, privateKey, publicKeyUrl }: ReceiptOrder): IssuedAnswer {
  const document = 'document' in answer ? answer.document : receiptOf(answer.start, answer.end, now);
  const { body, leaf } = issueReceipt(document, {
    ...{ receiptId, now, publicKeyUrl, random: NO_RANDOM },
    signer: { keyId, sign: (bytes) => sign(null, bytes, privateKey) },
    digest: (bytes) => hash('sha256', bytes, 'buffer'),
  });
  return { receiptId, keyId: document.key_id, used: usedOf(document), body: JSON.stringify(body), leaf };
}
