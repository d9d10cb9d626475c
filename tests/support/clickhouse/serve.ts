// ClickHouse's HTTP interface, https://clickhouse.com/docs/interfaces/http, over ClickHouse in this process: as much of it as a client
// uses. Arguments: the folder and the port, 0 for a free one. Prints the port.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

interface Session {
  queryAsync(text: string, options: { readonly format: string }): Promise<{ bytes(): Uint8Array }>;
}

/** The defaults of a server: `http_max_uri_size`, `http_max_field_value_size`. */
const MAX_URI_BYTES = 1_048_576;
const MAX_FIELD_BYTES = 131_072;
/** What a client asks of the server, not of the statement. */
const OF_SERVER = /^(?:query_id|database|query|send_progress_in_http_headers|http_headers_progress_interval_ms)$/;
const AUTHORIZATION = `Basic ${Buffer.from('strata:pass word').toString('base64')}`;

const [folder = '', port = '0'] = process.argv.slice(2);
const name = 'chdb';
const { Session } = (await import(name)) as { Session: new (folder: string) => Session };
const session = new Session(folder);
await session.queryAsync('CREATE DATABASE IF NOT EXISTS strata', { format: 'Null' });

class Failure extends Error {
  readonly status: number;
  constructor(status: number, code: number, type: string) {
    super(`Code: ${code}. DB::Exception: test. (${type})`);
    this.status = status;
  }
}

/** One statement at a time: their settings are those of the session. */
let last: Promise<unknown> = Promise.resolve();
const literal = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

async function answer(request: IncomingMessage): Promise<Uint8Array> {
  if (request.headers.authorization !== AUTHORIZATION) throw new Failure(403, 516, 'AUTHENTICATION_FAILED');
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const database = searchParams.get('database') ?? 'default';
  if (!['default', 'strata'].includes(database)) throw new Failure(404, 81, 'UNKNOWN_DATABASE');
  const sent = Buffer.concat(await Array.fromAsync(request));
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers;
  const isForm = type.startsWith('multipart/form-data');
  const form = isForm ? await new Response(sent, { headers: { 'content-type': type } }).formData() : [];
  for (const [key, value] of form) searchParams.append(key, String(value));
  const body = isForm ? '' : (encoding === 'gzip' ? gunzipSync(sent) : sent).toString();
  const before = [`USE ${database}`];
  let format = 'TabSeparated';
  for (const [key, value] of searchParams) {
    if (Buffer.byteLength(value) > MAX_FIELD_BYTES) throw new Failure(500, 1000, 'POCO_EXCEPTION');
    if (key === 'default_format') format = value;
    else if (!OF_SERVER.test(key)) before.push(`SET ${key} = ${key.startsWith('param_') ? literal(value) : value}`);
  }
  const query = searchParams.get('query');
  if (query?.startsWith('INSERT') && body === '') return new Uint8Array();
  const text = [...before, query === null ? body : `${query}\n${body}`].join('; ');
  const result = last.then(() => session.queryAsync(text, { format }));
  last = result.catch(() => {});
  return (await result).bytes();
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    response.end(await answer(request));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const code = /Code: (\d+)/.exec(text)?.[1] ?? '1002';
    const status = error instanceof Failure ? error.status : 500;
    response.writeHead(status, { 'X-ClickHouse-Exception-Code': code }).end(`${text}\n`);
  }
}

const server = createServer({ maxHeaderSize: MAX_URI_BYTES }, (request, response) => void respond(request, response));
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.once('end', () => process.exit()).resume();
