// Backups of two nodes on one PostgreSQL: the ledger that is in the database, with the keys of both, and back into an empty one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkStore, openPool } from '@strata/db';
import { checkpointOf } from '@strata/log';
import { consistencyProof, verifyConsistency } from '@strata/receipts';
import { openStore, receiptsInRows, stackSchema } from '@strata/stack/store';
import type { Internet } from '@strata/testnet';
import { tilesServedBy } from '../../../packages/log/src/test/fixture.ts';
import { readBackupFile } from '../../../services/cli/src/backup/backup-files.ts';
import { postgres, rows } from '../../../services/stack/src/store/test/backends.ts';
import { type Harness, sharedInternet, startHarness } from '../../../services/stack/src/test/index.ts';
import { type Busy, startBusy } from '../../support/busy-stack.ts';
import { repeatDuring, temporaryDirectory, until } from '../../support/index.ts';
import { fails, succeeds } from '../../support/strata-stack.ts';

const MAIN = path.join(import.meta.dirname, '../../../services/cli/src/main.ts');

type Env = Readonly<Record<string, string>>;

/** A node answers its own health once when it starts. */
const OF_START = 1;

describe('a backup of two nodes on PostgreSQL', { skip: postgres.skip }, () => {
  let internet: Internet;
  let temporary: Awaited<ReturnType<typeof temporaryDirectory>>;
  let busy: Busy;
  let second: Harness;
  /** Made while both nodes worked; receipts that were given before it; an answer of the second node, whose key is its own. */
  let set: string;
  let given: readonly string[];
  let answer: string;

  /** A node beside another: the ledger's keys are the same, those of receipts its own. */
  async function beside(directory: string, settings: Env): Promise<Harness> {
    const data = path.join(temporary.path, `node-${Math.random()}`);
    await cp(path.join(directory, 'keys/ledger'), path.join(data, 'keys/ledger'), { recursive: true });
    return startHarness({ internet, settings: { ...settings, STRATA_DATA: data }, world: busy.world });
  }
  const ask = (node: Harness) => node.get(`/stack/v1/domains/${busy.domains[0]}`);
  const receiptOf = ({ body }: Awaited<ReturnType<typeof ask>>) => body.provenance.ledger_receipt_id ?? assert.fail();
  const manifestOf = (folder: string) => JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
  /** Nothing at all yet. */
  const nowhere = async () => ({
    STRATA_DATA: path.join(temporary.path, `data-${Math.random()}`),
    STRATA_DATABASE_URL: await postgres.empty(),
  });

  before(async () => {
    internet = await sharedInternet();
    temporary = await temporaryDirectory();
    const settings = { STRATA_DATABASE_URL: await postgres.empty() };
    busy = await startBusy(internet, settings);
    second = await beside(busy.harness.directory, settings);
    const latest = await ask(second);
    answer = path.join(temporary.path, 'answer.json');
    await writeFile(answer, latest.text);
    set = path.join(temporary.path, 'set');
    given = [...busy.receiptIds, receiptOf(latest)];
    await repeatDuring(succeeds(['backup', set, '--keys', `${set}.keys`], busy.env), busy.step, () => ask(second));
  });
  after(async () => {
    await second?.[Symbol.asyncDispose]();
    await busy?.[Symbol.asyncDispose]();
    await temporary?.[Symbol.asyncDispose]();
  });

  it('has the leaves once, under the checkpoint that covers them all, and verifies', async () => {
    const { ledger, files } = manifestOf(set);
    assert.ok(ledger.leaves >= given.length);
    assert.equal(ledger.checkpoint_leaves, ledger.leaves);
    const names = files.map((file: { readonly path: string }) => file.path);
    assert.ok(names.includes('ledger/leaves.gz') && names.includes('ledger/checkpoint'));
    assert.ok(!names.some((name: string) => name.startsWith('store/ledger')));
    assert.match(await succeeds(['backup', '--verify', set], busy.env), /is complete, signed by localhost/);
  });

  it('goes on in an empty database, served by two nodes, with every receipt and key', {
    timeout: 300_000,
  }, async () => {
    const env = await nowhere();
    await succeeds(['restore', set, '--keys', `${set}.keys`], env);
    const { leaves } = manifestOf(set).ledger;
    const then = checkpointOf(await readFile(path.join(set, 'ledger/checkpoint'), 'utf8'));
    {
      await using one = await startHarness({ internet, settings: env, world: busy.world });
      assert.equal(one.running.app.ledger.log.size, leaves + OF_START);
      await using two = await beside(env.STRATA_DATA, { STRATA_DATABASE_URL: env.STRATA_DATABASE_URL });
      const latest = await receiptsInRows(readBackupFile(set, 'store/stream_events.copy.gz'));
      assert.ok(latest.length > 0);
      for (const id of [...given, ...latest])
        for (const node of [one, two])
          assert.equal((await node.ask(`/ledger/receipts/${id}`)).status, 200, `${id} was given before the backup`);
      // The key that signed it was on a lost machine.
      await succeeds(['verify', answer, '--base', two.base], {});
      for (const [from, at] of [[one, two] as const, [two, one] as const])
        assert.equal((await at.ask(`/ledger/receipts/${receiptOf(await ask(from))}`)).status, 200);
      const { log } = one.running.app.ledger;
      const now = checkpointOf(log.checkpoint());
      assert.ok(now.size > leaves);
      const proof = await consistencyProof(tilesServedBy(log), then.size, now.size);
      const sizes = { oldSize: then.size, oldRoot: then.root, newSize: now.size, newRoot: now.root };
      assert.ok(verifyConsistency({ ...sizes, proof }), 'the log goes on from the one of the backup');
    }
    assert.deepEqual((await checkStore(stackSchema, env.STRATA_DATABASE_URL)).findings, []);

    // The published ledger is newer than the backup: this node's last checkpoint shows it, and so do the database and a witness.
    const elsewhere = await nowhere();
    const fork = /were published: continuing from the backup would fork the ledger/;
    const { STRATA_DATA, STRATA_DATABASE_URL } = elsewhere;
    assert.match(await fails(['restore', set], { ...env, STRATA_DATABASE_URL }), fork);
    assert.match(await fails(['restore', set, '--unverified'], { ...env, STRATA_DATA }), fork);
    const witness = path.join(temporary.path, 'witness');
    await cp(path.join(env.STRATA_DATA, 'ledger/checkpoint'), witness);
    assert.match(await fails(['restore', set, '--published', witness, '--unverified'], elsewhere), fork);
    const found = await fails(['restore', set, '--keep-ledger', '--unverified'], elsewhere, 2);
    assert.match(found, /for a ledger in a data directory/);
    // Nothing of it was kept: it goes into the same database under another name, and the keys of both nodes with it.
    const named = ['--published', witness, '--origin', 'example.test/two', '--unverified'];
    assert.match(await succeeds(['restore', set, ...named], elsewhere), /STRATA_LEDGER_ORIGIN=example\.test\/two/);
    const settings = { ...elsewhere, STRATA_LEDGER_ORIGIN: 'example.test/two' };
    await using renamed = await startHarness({ internet, settings, world: busy.world });
    assert.match((await renamed.ask('/ledger/checkpoint')).text, /^example\.test\/two\n/);
    assert.equal((await renamed.ask(`/ledger/receipts/${given.at(-1)}`)).status, 200);
    await succeeds(['verify', answer, '--base', renamed.base], {});
    assert.match(await fails(['restore', set, ...named, '--replace'], settings), /empty one/);
  });

  it('is not put where another log of as many receipts was published', async () => {
    const env = await nowhere();
    const text = await readFile(path.join(set, 'ledger/checkpoint'), 'utf8');
    const other = path.join(temporary.path, 'other');
    const lines = text.split('\n');
    lines[2] = Buffer.alloc(32, 7).toString('base64');
    await writeFile(other, lines.join('\n'));
    assert.match(await fails(['restore', set, '--published', other, '--unverified'], env), /is not the published one/);
    await mkdir(path.join(env.STRATA_DATA, 'ledger'), { recursive: true });
    await cp(other, path.join(env.STRATA_DATA, 'ledger/checkpoint'));
    assert.match(await fails(['restore', set, '--unverified'], env), /is not the published one/);
  });

  it('is not made where the keys of the ledger are not', async () => {
    const { STRATA_DATA } = await nowhere();
    const stderr = await fails(['backup', path.join(temporary.path, 'keyless')], { ...busy.env, STRATA_DATA });
    assert.match(stderr, /has no signing key of receipts and ledger: .*\(STRATA_DATA\)/);
  });

  it('killed half-way leaves an empty database and a node that does not start', {
    timeout: 300_000,
  }, async () => {
    const env = await nowhere();
    const url = env.STRATA_DATABASE_URL;
    await (await openStore(url))[Symbol.asyncDispose]();
    const pool = openPool(url, { poolSize: 1 });
    const holder = await pool.connect();
    try {
      await holder.query('set idle_in_transaction_session_timeout = 0; begin; lock ledger_subtrees, ledger_leaves');
      const child = spawn(process.execPath, [MAIN, 'stack', 'restore', set, '--unverified'], {
        env: { ...process.env, ...env },
      });
      const ended = once(child, 'exit');
      const waits = `select 1 as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%ledger_leaves%'`;
      await until(async () => child.exitCode !== null || (await rows(url, waits)).length > 0, { limitMs: 60_000 });
      assert.equal(child.exitCode, null, 'it waits to write leaves');
      child.kill('SIGKILL');
      await ended;
    } finally {
      await holder.query('rollback');
      holder.release(true);
      await pool.end();
    }
    const counts = `select (select count(*) from domains)::int as domains, (select count(*) from ledger_leaves)::int as leaves,
      (select count(*) from ledger_head)::int as heads`;
    assert.deepEqual(await rows(url, counts), [{ domains: 0, leaves: 0, heads: 0 }]);
    await assert.rejects(startHarness({ internet, settings: env }), /a restore .* was interrupted/);
    await succeeds(['restore', set, '--keys', `${set}.keys`], env);
    await using restored = await startHarness({ internet, settings: env, world: busy.world });
    assert.equal(restored.running.app.ledger.log.size, manifestOf(set).ledger.leaves + OF_START);
  });
});
