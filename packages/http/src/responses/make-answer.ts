// Converts a handler's result into a response that can be sent: signed, durable in the ledger, with its validator.
import { createHash } from 'node:crypto';
import type { Output } from '../route.ts';
import type { ReadyAnswer } from './answer-cache.ts';
import { contentDisposition, rowObjects, type Table, type TableFormat, tableBytes } from './csv.ts';
import { envelope, type Notary } from './notary.ts';

/** `format` is that of a `rows` route. Throws TypeError for an output kind without a receipt. */
export async function answerOf(
  output: Output,
  notary: Notary,
  data: unknown,
  format: TableFormat = 'json',
): Promise<ReadyAnswer> {
  switch (output.kind) {
    case 'signed':
      return signedAnswer(notary, data as object, output.status ?? 200);
    case 'csv':
    case 'rows': {
      const table = data as Table;
      const columns = table.columns ?? output.columns.map(({ name }) => name);
      if (output.kind === 'csv') return tableAnswer(notary, tableBytes('csv', columns, table), table);
      if (format === 'json') return signedAnswer(notary, { rows: rowObjects(columns, table) }, 200);
      return tableAnswer(notary, tableBytes(format, columns, table), table);
    }
    default:
      throw new TypeError(`a response of kind ${output.kind} is not signed`);
  }
}

async function signedAnswer(notary: Notary, data: object, status: number): Promise<ReadyAnswer> {
  const bytes = Buffer.from(JSON.stringify(await notary.sign(envelope(data))));
  return { bytes, etag: etagOf(bytes), status };
}

async function tableAnswer(
  notary: Notary,
  { bytes, contentType }: ReturnType<typeof tableBytes>,
  { filename, isTruncated }: Table,
): Promise<ReadyAnswer> {
  const provenance = JSON.stringify(await notary.signBytes(bytes, contentType));
  const headers = {
    'content-type': contentType,
    'content-disposition': contentDisposition(filename),
    'stack-provenance': provenance,
    ...(isTruncated ? { 'stack-truncated': 'true' } : {}),
  };
  // The validator covers the receipt: a new receipt makes a new representation.
  return { bytes, etag: etagOf(provenance), status: 200, headers };
}

function etagOf(content: Buffer | string): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}
