// Converts a handler's result into a response that can be sent: signed, durable in the ledger, with its validator.
import { createHash } from 'node:crypto';
import type { Output } from '../route.ts';
import type { ReadyAnswer } from './answer-cache.ts';
import { CSV_TYPE, type Csv, type CsvColumn, contentDisposition, csvBytes } from './csv.ts';
import { envelope, type Notary } from './notary.ts';

/** Throws TypeError for an output kind without a receipt. */
export async function answerOf(output: Output, notary: Notary, data: unknown): Promise<ReadyAnswer> {
  switch (output.kind) {
    case 'signed':
      return signedAnswer(notary, data as object, output.status ?? 200);
    case 'csv':
      return csvAnswer(notary, output.columns, data as Csv);
    default:
      throw new TypeError(`a response of kind ${output.kind} is not signed`);
  }
}

async function signedAnswer(notary: Notary, data: object, status: number): Promise<ReadyAnswer> {
  const bytes = Buffer.from(JSON.stringify(await notary.sign(envelope(data))));
  return { bytes, etag: etagOf(bytes), status };
}

async function csvAnswer(notary: Notary, columns: readonly CsvColumn[], csv: Csv): Promise<ReadyAnswer> {
  const bytes = csvBytes(columns, csv);
  const provenance = JSON.stringify(await notary.signBytes(bytes, CSV_TYPE));
  const headers = {
    'content-type': CSV_TYPE,
    'content-disposition': contentDisposition(csv.filename),
    'stack-provenance': provenance,
    ...(csv.isTruncated ? { 'stack-truncated': 'true' } : {}),
  };
  // The validator covers the receipt: a new receipt makes a new representation.
  return { bytes, etag: etagOf(provenance), status: 200, headers };
}

function etagOf(content: Buffer | string): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}
