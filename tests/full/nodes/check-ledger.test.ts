// `strata stack check-store` and the ledger: sound ones pass, beside who appends; each kind of damage is found, in a folder and in a database.
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readDirectoryLog } from '@strata/log';
import { issueReceipt } from '@strata/receipts';
import { readConfig } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { journalRecord, segmentIn } from '../../../packages/log/src/test/log-on-disk.ts';
import { checkLedger } from '../../../services/cli/src/commands/store/check-ledger.ts';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { openLedger } from '../../../services/stack/src/ledger/ledger.ts';
import { exec, postgres } from '../../../services/stack/src/store/test/backends.ts';
import { altered } from '../../support/shared-log/database.ts';
import { succeeds } from '../../support/strata-stack.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** More than two tiles, so that there is a subtree to spoil. */
const LEAVES = 600;

type Env = { readonly STRATA_DATA: string; readonly STRATA_DATABASE_URL?: string };

/** A store with a ledger of so many receipts; returns the last one. */
async function fill(env: Env, beside: () => Promise<void> = async () => {}, leaves = LEAVES): Promise<void> {
  const config = readConfig(env);
  await using store = await openStore(config.databaseUrl);
  const { dataDirectory, ledgerOrigin: origin } = config;
  await using ledger = await openLedger({ dataDirectory, origin, now: () => new Date(), store });
  const issued = Array.from({ length: leaves }, (_, number) => issueReceipt({ number }, ledger.issuing()));
  await Promise.all(issued.map(({ leaf }) => ledger.log.append(leaf)));
  await store.stream.begin(0, 1);
  const event = { type: 'migration', domain: null, providers: [], category: null } as const;
  const body = JSON.stringify(issued.at(-1)?.body);
  await store.stream.append([{ ...event, publishedUs: 1, body }], { from: 0, to: 1 });
  await beside();
}

const findingsOf = async (env: Env) => (await checkLedger(readConfig(env))).findings.map(({ what }) => what);
const assertFound = async (env: Env, expected: RegExp, why?: string) =>
  assert.match(String(await findingsOf(env)), expected, why);
const OTHER = "sha256('other')";
const LEAF_300 = "update ledger_leaves set leaf = leaf || 'x'::bytea where leaf_index = 300";
const UNKNOWN = `insert into stream_events (seq, published_us, type, providers, body)
  select max(seq) + 1, 99, 'migration', '[]', '{"ledger_receipt_id":"cr_${'a'.repeat(32)}"}' from stream_events`;

it('a ledger in a data directory passes while it is written to, and what is lost or altered is found', async () => {
  await using directory = await temporaryDirectory();
  const env = { STRATA_DATA: directory.path };
  await fill(env, async () => assert.deepEqual(await findingsOf(env), []));
  assert.match(await succeeds(['check-store'], env), new RegExp(`ledger of ${LEAVES} leaves`));

  const folder = path.join(directory.path, 'ledger');
  const [file, checkpoint] = ['ledger.db', 'checkpoint'].map((name) => path.join(folder, name)) as [string, string];
  const [intact, note] = [await readFile(file), await readFile(checkpoint, 'utf8')];
  await exec(`sqlite:${file}`, 'update ledger_leaves set leaf = zeroblob(9) where leaf_index = 300');
  await assertFound(env, /hashes from leaf 256 on do not match/);
  await writeFile(file, intact);
  await writeFile(checkpoint, note.replace(`\n${LEAVES}\n`, `\n${LEAVES + 1}\n`));
  await assertFound(env, /the database has 600 leaves of the log, but 601 were published/);
  await rm(checkpoint);
  assert.deepEqual(await findingsOf(env), [], 'the store keeps another');
  await exec(`sqlite:${file}`, 'delete from ledger_head');
  const lost = { code: 'lost-leaves', message: /^the database has 0 leaves of the log, but 600 were published/ };
  await assert.rejects(fill(env), lost);
  await writeFile(file, intact);

  assert.deepEqual(await findingsOf(env), []);
  await rename(folder, `${folder}.away`);
  await assertFound(env, /^The ledger: the checkpoint covers 600 leaves, there are 0/, 'all of it is lost');
  await rename(`${folder}.away`, folder);
  await exec(`sqlite:${path.join(directory.path, 'strata.db')}`, UNKNOWN);
  await assertFound(env, /^The ledger does not have 1 of the 2 latest receipts .* cr_a{32}/);
});

it('a ledger in a data directory is found damaged in the folder of an earlier version, and sound beside it', async () => {
  await using directory = await temporaryDirectory();
  const env = { STRATA_DATA: directory.path };
  await fill(env);
  const [own, old] = ['ledger', 'old'].map((name) => path.join(directory.path, name)) as [string, string];
  {
    await using log = await readDirectoryLog(own);
    const leaves = (await Array.fromAsync(log.leaves())).flat();
    await mkdir(path.join(old, 'journal'), { recursive: true });
    await writeFile(segmentIn(old), journalRecord(0, leaves));
    await writeFile(path.join(old, 'checkpoint'), log.note ?? '');
  }
  await rm(own, { recursive: true });
  await rename(old, own);
  assert.deepEqual(await findingsOf(env), []);
  await truncate(segmentIn(own), 9_000);
  await assertFound(env, /^The ledger: the checkpoint covers 600 leaves, there are \d+/);
});

describe('a ledger in PostgreSQL', { skip: postgres.skip }, () => {
  it('passes while it is written to, and each kind of damage is found', async () => {
    await using directory = await temporaryDirectory();
    const url = await postgres.fresh();
    const env = { STRATA_DATA: directory.path, STRATA_DATABASE_URL: url };
    await fill(env, async () => assert.deepEqual(await findingsOf(env), []));
    for (const [damage, expected] of [
      [LEAF_300, /tile\/0\/001: the hashes from leaf 256 on do not match/],
      [`update ledger_leaves set hash = ${OTHER} where leaf_index = 599`, /hashes from leaf 512 on do not match/],
      ['delete from ledger_leaves where leaf_index = 10', /leaves from 0 on are missing/],
      [`update ledger_subtrees set hash = ${OTHER} where subtree_index = 1`, /hash of subtree 1\/1 does not match/],
      ["update ledger_head set root = sha256('other')", /the head of the log in the database does not match its c/],
      ["update ledger_head set note = replace(note, '600', '601')", /the checkpoint of the log .* was altered/],
      ["update ledger_head set origin = 'other.example/log'", /the database holds the log other\.example/],
      [UNKNOWN, /does not have 1 of the 2 latest receipts/],
      ['delete from ledger_head', /the checkpoint covers 600 leaves, there are 0|the database has 0 leaves/],
    ] as const) {
      const tables = ['ledger_leaves', 'ledger_subtrees', 'ledger_head', 'stream_events'];
      await using _altered = await altered(url, tables, damage);
      await assertFound(env, expected, damage);
    }
    assert.deepEqual(await findingsOf(env), []);
    await exec(url, LEAF_300);
    const failed = await runStrata(['stack', 'check-store'], { env });
    assert.equal(failed.code, 1, failed.stdout + failed.stderr);
    assert.match(failed.stdout, /The ledger: tile\/0\/001: the hashes from .*\n {2}Do not change the database/);
  });

  it('is nothing to find fault with before its first leaf', async () => {
    await using directory = await temporaryDirectory();
    const url = await postgres.fresh();
    await (await openStore(url))[Symbol.asyncDispose]();
    assert.deepEqual(await findingsOf({ STRATA_DATA: directory.path, STRATA_DATABASE_URL: url }), []);
  });

  it('is not judged without the keys that signed it', async () => {
    await using directory = await temporaryDirectory();
    await using other = await temporaryDirectory();
    const url = await postgres.fresh();
    await fill({ STRATA_DATA: directory.path, STRATA_DATABASE_URL: url });
    const found = await checkLedger(readConfig({ STRATA_DATA: other.path, STRATA_DATABASE_URL: url }));
    assert.match(found.findings[0]?.advice ?? '', /Run this with the newest keys folder/);
  });
});
