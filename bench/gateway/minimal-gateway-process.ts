// The minimum that keeps the promises of the gateway for complete answers: a Node server that reads JSON, sends it on, reads the
// usage, and answers once a thread has signed a record with the digests of both bodies and committed it to SQLite, in batches.
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { childArgument, reportReady } from '../measure.ts';

if (isMainThread) await serve();
else keepRecords(workerData as string);

async function serve(): Promise<void> {
  const { port } = new URL(childArgument<{ readonly upstream: string }>().upstream);
  const directory = await temporaryDirectory();
  const thread = new Worker(new URL(import.meta.url), { workerData: `${directory.path}/records.db` });
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let [queued, sent]: { readonly record: string; readonly kept: () => void }[][] = [[], []];
  const send = () => {
    if (sent?.length || !queued?.length) return;
    [sent, queued] = [queued, []];
    thread.postMessage(sent.map(({ record }) => record));
  };
  thread.on('message', () => {
    for (const { kept } of sent ?? []) kept();
    sent = [];
    send();
  });
  const server = createServer(async (incoming, outgoing) => {
    const asked = await text(incoming);
    const body = JSON.stringify({ ...(JSON.parse(asked) as object), seed: 1 });
    const options = { host: '127.0.0.1', port, agent, method: 'POST', path: incoming.url };
    const onward = request({ ...options, headers: { 'content-type': 'application/json' } }, async (reply) => {
      const { usage, ...answer } = JSON.parse(await text(reply)) as { readonly usage: object };
      const answered = JSON.stringify({ ...answer, usage });
      const digests = { request: hash('sha256', asked), answer: hash('sha256', answered) };
      const record = JSON.stringify({ ...digests, usage, at: new Date().toISOString() });
      const kept = () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(answered);
      if (queued?.push({ record, kept }) === 1) setImmediate(send);
    });
    onward.end(body);
  });
  server.listen(0, '127.0.0.1', () => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    reportReady({ base }, async () => {
      await thread.terminate();
      await directory[Symbol.asyncDispose]();
    });
  });
}

function keepRecords(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const database = new DatabaseSync(file);
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = normal; create table records (record text, signature blob)',
  );
  const insert = database.prepare('insert into records values (?, ?)');
  parentPort?.on('message', (records: readonly string[]) => {
    database.exec('begin immediate');
    for (const record of records) insert.run(record, sign(null, Buffer.from(record), privateKey));
    database.exec('commit');
    parentPort?.postMessage(records.length);
  });
}
