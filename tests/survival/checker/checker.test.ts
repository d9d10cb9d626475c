// The checker agrees with the published example, and finds what is altered.
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { Checker } from './check.ts';
import type { Sql } from './database.ts';
import { leafHash, rootOfProof, Tree } from './merkle.ts';
import { canonical, leafOfAnswer, openCheckpoint } from './signatures.ts';
import { checkEvents, checkState, type Finding } from './store-checks.ts';

const read = (name: string) => readFileSync(path.join(import.meta.dirname, '../../../vectors/receipts', name), 'utf8');

it('accepts the example, and no other value, key or root', () => {
  const [answer, keySets] = [read('answer.json'), [JSON.parse(read('key-set.json'))]];
  const { leaf, index, tree_size, proof, checkpoint } = JSON.parse(read('ledger-receipt.json'));
  const found = leafOfAnswer(answer, keySets);
  assert.deepEqual(found, Buffer.from(leaf, 'base64'));
  assert.match(String(leafOfAnswer(answer.replace('Cloudflare', 'Fastly'), keySets)), /a wrong signature/);
  const opened = openCheckpoint(checkpoint, keySets);
  assert.ok(typeof opened !== 'string');
  const siblings = proof.map((each: string) => Buffer.from(each, 'base64'));
  assert.deepEqual(rootOfProof(leafHash(found as Buffer), index, tree_size, siblings), opened.root);
  assert.notDeepEqual(rootOfProof(leafHash(Buffer.from('other')), index, tree_size, siblings), opened.root);
  const forged = checkpoint.replace(`\n${tree_size}\n`, `\n${tree_size + 1}\n`);
  assert.match(String(openCheckpoint(forged, keySets)), /^no key of/);
});

it('has the roots of RFC 6962 for every beginning of a tree, and its proofs lead to them', () => {
  const hex = (text: string) => Buffer.from(text, 'hex');
  const { leaves, roots, inclusion } = JSON.parse(read('../merkle/tree.json'));
  const tree = new Tree(leaves.map(hex));
  for (const [size, root] of roots.entries()) assert.deepEqual(tree.root(size), hex(root), `${size}`);
  for (const { index, size, proof } of inclusion)
    assert.deepEqual(rootOfProof(leafHash(hex(leaves[index])), index, size, proof.map(hex)), tree.root(size));
});

it('finds what is lost, doubled or out of order', async () => {
  const tables: Record<string, Record<string, unknown>[]> = {
    changes: [1, 2, 3].map((id) => ({ id })),
    events: [1, 2, 3].map((seq) => ({ seq, payload: `{"id":"ch_${seq}"}` })),
    stream_events: [1, 2, 3].map((seq) => ({ seq, published_us: seq, body: `{"id":"ev_${seq}"}` })),
    domains: [{ name: 'a.com', last_scanned_at: 5 }],
  };
  const sql: Sql = async (text) => {
    if (/max\(seq\)/.test(text)) return [{ seq: 3 }];
    if (/stream-cursor/.test(text)) return [{ value: '3' }];
    return tables[/from (\w+)/.exec(text)?.[1] ?? ''] ?? [];
  };
  const client = (...seqs: number[]) => seqs.map((seq) => ({ seq, body: `{"id":"ev_${seq}"}` }));
  const kinds = async (events = client(1, 2, 3), at = '1970-01-01T00:00:00.005Z') => {
    const acknowledged = { scans: new Map([['a.com', at]]), counted: new Map(), events };
    const found: Finding[] = [];
    for (const check of [checkState, checkEvents]) for await (const each of check(sql, acknowledged)) found.push(each);
    return found.map(({ kind }) => kind);
  };
  assert.deepEqual(await kinds(), []);
  assert.deepEqual(await kinds(client(1, 2, 2, 3)), ['doubled']);
  assert.deepEqual(await kinds(client(1, 3)), ['lost']);
  assert.deepEqual(await kinds(client(1, 3, 2)), ['wrong']);
  assert.deepEqual(await kinds(client(1, 2), '1970-01-01T00:00:00.006Z'), ['lost']);
  Object.assign(tables.stream_events?.[0] ?? {}, { published_us: 2 });
  assert.deepEqual(await kinds(), ['wrong'], 'times of the stream');
  tables.stream_events?.splice(0, 2, { seq: 1, published_us: 1, body: '{"id":"ev_1"}' });
  assert.deepEqual(await kinds(client(1, 3)), ['lost'], 'in the stream');
});

const PKCS8_OF_SEED = Buffer.from('302e020100300506032b657004220420', 'hex');

function testKey(seed: number) {
  const der = Buffer.concat([PKCS8_OF_SEED, Buffer.alloc(32, seed)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const x = createPublicKey(key).export({ format: 'jwk' }).x ?? '';
  const kid = hash('sha256', canonical({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
  const typed = Buffer.concat([Buffer.of(1), Buffer.from(x, 'base64url')]);
  const id = hash('sha256', Buffer.concat([Buffer.from('log\n'), typed]), 'buffer').subarray(0, 4);
  const verifierKey = `log+${id.toString('hex')}+${typed.toString('base64')}`;
  const note = ({ size, root }: { size: number; root: Buffer }) => {
    const text = `log\n${size}\n${root.toString('base64')}\n`;
    const signature = Buffer.concat([id, sign(null, Buffer.from(text), key)]).toString('base64');
    return `${text}\n— log ${signature}\n`;
  };
  return { key, kid, verifierKey, note, jwk: { kid, x, not_before: '2026-01-01T00:00:00Z' } };
}

it('finds what is lost, altered or doubled in a ledger, wrong proofs, and keys that are not served any more', async () => {
  const [first, second] = [testKey(1), testKey(2)];
  const receipt = { key_id: first.kid, receipt_id: 'r0', signed_at: '2026-01-02T00:00:00Z' };
  const bytes = canonical({ provenance: receipt });
  const signature = `ed25519:${sign(null, Buffer.from(bytes), first.key).toString('base64')}`;
  const answer = JSON.stringify({ provenance: { ...receipt, signature } });
  const content_sha256 = hash('sha256', bytes);
  const good = [canonical({ content_sha256, ...receipt, signature }), '{"receipt_id":"r1"}', '{"receipt_id":"r2"}'];
  const keySet = { keys: [first.jwk], ledger: { origin: 'log', verifier_keys: [first.verifierKey] } };
  const treeOf = (leaves: readonly string[]) => new Tree(leaves.map((leaf) => Buffer.from(leaf)));
  const noteOf = (leaves: readonly string[]) =>
    first.note({ size: leaves.length, root: treeOf(leaves).root(leaves.length) });
  const pages: Record<string, string | Buffer> = {};
  const server = createServer(({ url = '' }, response) => response.writeHead(pages[url] ? 200 : 404).end(pages[url]));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(path.join(tmpdir(), 'checker-'));
  using ledger = new DatabaseSync(path.join(folder, 'ledger.db'));
  ledger.exec('create table ledger_head (note text); create table ledger_leaves (leaf_index integer, leaf blob)');
  const base = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const service = {
    databaseUrl: 'sqlite::memory:',
    ledgerUrl: `sqlite:${folder}/ledger.db`,
    base,
    keySetPath: '/keys',
  };
  const answered = { answers: new Map([['r0', answer]]), checkpoints: new Set([noteOf(good)]) };
  const kinds = async (leaves = good, { note = noteOf(leaves), isProved = true, keys = keySet } = {}) => {
    const length = (leaf: string) => Buffer.of(leaf.length >> 8, leaf.length & 255);
    const bundle = Buffer.concat(leaves.flatMap((leaf) => [length(leaf), Buffer.from(leaf)]));
    ledger.exec('delete from ledger_head; delete from ledger_leaves');
    ledger.prepare('insert into ledger_head values (?)').run(note);
    for (const [index, leaf] of leaves.entries())
      ledger.prepare('insert into ledger_leaves values (?, ?)').run(index, Buffer.from(leaf));
    const siblings = good.slice(1).map((leaf) => leafHash(Buffer.from(leaf)).toString('base64'));
    const proof = isProved ? siblings : siblings.toReversed();
    const served = { index: 0, tree_size: 3, proof, checkpoint: noteOf(good) };
    pages['/ledger/checkpoint'] = note;
    pages[`/ledger/tile/entries/000.p/${leaves.length}`] = bundle;
    Object.assign(pages, { '/ledger/receipts/r0': JSON.stringify(served), '/keys': JSON.stringify(keys) });
    const findings = await new Checker().check({ ...answered, keySets: new Set([JSON.stringify(keySet)]) }, service);
    return [...new Set(findings.map(({ kind }) => kind))].toSorted();
  };
  try {
    assert.deepEqual(await kinds(), []);
    assert.deepEqual(await kinds(good.slice(0, 2)), ['lost'], 'a leaf is removed');
    assert.deepEqual(await kinds(good.slice(1)), ['lost'], 'the leaf of an answer is removed');
    assert.deepEqual(await kinds(good.with(2, '{"receipt_id":"r9"}')), ['wrong'], 'a leaf is altered');
    assert.deepEqual(await kinds(good, { note: noteOf(good.toReversed()) }), ['wrong'], 'another tree');
    assert.deepEqual(await kinds(good, { isProved: false }), ['wrong'], 'another proof');
    assert.deepEqual(await kinds([...good, good[1] ?? '']), ['doubled']);
    const both = [first.verifierKey, second.verifierKey];
    const added = { keys: [first.jwk, second.jwk], ledger: { origin: 'log', verifier_keys: both } };
    assert.deepEqual(await kinds(good, { keys: added }), [], 'a rotation');
    assert.deepEqual(await kinds(good, { keys: { ...added, keys: [second.jwk] } }), ['lost'], 'a signing key');
    const other = { origin: 'log', verifier_keys: both.slice(1) };
    assert.deepEqual(await kinds(good, { keys: { ...added, ledger: other } }), ['lost'], 'a key of the ledger');
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
