// Converts a handler's result into a response that can be sent: signed, durable in the ledger, with its validator.
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../problems/errors.ts';
import type { Endpoint, Output, Upload } from '../route.ts';
import { tableBytes } from '../tables/encode-table.ts';
import { contentDisposition, rowObject, type Table, type TableColumn, type TableFormat } from '../tables/table.ts';
import { asUtf8 } from '../text-encoding.ts';
import type { ReadyAnswer } from './answer-cache.ts';
import { envelope, type Notary } from './notary.ts';
import { etagOf } from './send-answer.ts';

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
      const known = table.columns?.map((name) => columnOf(output.columns, name)) ?? output.columns;
      const columns = [...known, ...(table.extra ?? []).map((name) => ({ name, description: '' }))];
      if (output.kind === 'rows' && format === 'json') {
        const names = columns.map(({ name }) => name);
        return signedAnswer(notary, { rows: Array.from(table.rows, (row) => rowObject(names, row)) }, 200);
      }
      const fileFormat = output.kind === 'csv' || format === 'json' ? 'csv' : format;
      return tableAnswer(notary, await tableBytes(fileFormat, columns, table.rows), table);
    }
    default:
      throw new TypeError(`a response of kind ${output.kind} is not signed`);
  }
}

function columnOf(columns: readonly TableColumn[], name: string): TableColumn {
  const column = columns.find((each) => each.name === name);
  if (column === undefined) throw new TypeError(`the route has no column ${name}`);
  return column;
}

async function signedAnswer(notary: Notary, data: object, status: number): Promise<ReadyAnswer> {
  const bytes = Buffer.from(await notary.sign(envelope(data)));
  return { bytes, etag: etagOf(bytes), status };
}

async function tableAnswer(
  notary: Notary,
  { bytes, contentType }: Awaited<ReturnType<typeof tableBytes>>,
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

/** Refuses another media type, a missing body, and one that is announced as too long. */
export function uploadOf(
  { headers, body }: FastifyRequest,
  { upload = [], bodyBytes = 0 }: Pick<Endpoint, 'upload' | 'bodyBytes'>,
): Upload {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!upload.includes(type) || typeof body !== 'object' || body === null)
    throw new Refusal('unsupported_media_type', `Send a body of one of these types: ${upload.join(', ')}.`);
  if (Number(headers['content-length'] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  return { type, content: asUtf8(bounded(body as AsyncIterable<Uint8Array>, bodyBytes)) };
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of chunks) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

const tooLarge = (maxBytes: number) =>
  new Refusal('payload_too_large', `The body has more than ${maxBytes} bytes. Send it in parts.`);
