// What makes a log watchable, wherever it is kept: witnesses that cosign its checkpoints, and a copy that any file server carries.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkWitnesses, noteVerifier, openNote, parseVerifierKey, SIGNATURE_TYPES } from '@strata/receipts';
import { temporaryDirectory, until } from '../../../../tests/support/index.ts';
import { readStaticLog, serveFolder } from '../../../../tests/support/static-log.ts';
import { type Log, publishLog, Witness } from '../index.ts';
import type { WitnessFetch } from '../witness/witness-client.ts';
import { type LogWitnesses, WitnessedLog } from '../witness/witnessed-log.ts';
import { appendAll, type LogBackend, upTo } from './conformance.ts';
import { headOf, idOf, leafOf, ORIGIN, testSigner, VERIFIERS } from './fixture.ts';

const { publicKey } = testSigner();
const originHash = createHash('sha256').update(ORIGIN).digest('hex');
const TIMING = { roundMs: 1, backoffMs: 1, maxBackoffMs: 20, aheadMs: 20, waitMs: 30_000, followMs: 300 };

/** Witnesses that know the test's log, asked without sockets. */
export async function startWitnesses(count: number) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const logs = new Map([[ORIGIN, VERIFIERS]]);
  const open = (at: number) =>
    Witness.open({ directory: path.join(directory, `${at}`), name: `w${at}.example`, logs, now: () => new Date() });
  const witnesses = await Promise.all(upTo(count).map(open));
  stack.defer(async () => void (await Promise.all(witnesses.map((witness) => witness[Symbol.asyncDispose]()))));
  /** By their numbers: those that do not answer. */
  const down = new Set<number>();
  const fetch: WitnessFetch = async (url, { method, body = '' }) => {
    const [, at = '', resource = ''] = /^https:\/\/w(\d)\.example\/(.+)$/.exec(url) ?? [];
    const witness = witnesses[Number(at)] ?? assert.fail(url);
    if (down.has(Number(at))) return { kind: 'failed', detail: 'it does not answer' };
    const shown = { status: 200, body: witness.checkpoint(resource.slice(0, 64)) ?? '' };
    const answer = method === 'POST' ? await witness.addCheckpoint(body) : shown;
    return { kind: 'answered', status: answer.status, headers: {}, body: Buffer.from(answer.body) };
  };
  const verifiers = witnesses.map(
    ({ verifierKey }) => parseVerifierKey(verifierKey, SIGNATURE_TYPES.cosignature) ?? assert.fail(verifierKey),
  );
  const addresses = verifiers.map((verifier, at) => ({ verifier, url: `https://w${at}.example` }));
  return Object.assign(stack.move(), {
    ...{ witnesses, verifiers, down, directory, open, fetch },
    /** Cosigned by so many of them. */
    watch: (log: Log, required = count, changes: Pick<Partial<LogWitnesses>, 'fetch' | 'timing'> = {}) =>
      WitnessedLog.open({
        ...{ log, origin: ORIGIN, publicKeys: () => [publicKey], addresses, required, fetch, ...changes },
        timing: { ...TIMING, ...changes.timing },
      }),
    cosigned: async (note: string, required = count) =>
      (await checkWitnesses(note, { witnesses: verifiers, required })).ok,
  });
}

export function publicLogConformance({ name, skip, fresh }: LogBackend): void {
  /** A separate log of these leaves. */
  const logOf = async (stack: AsyncDisposableStack, numbers: readonly number[]) => {
    const log = stack.use(await stack.use(await fresh()).open());
    await appendAll(log, numbers);
    return log;
  };

  describe(`a log ${name} with witnesses`, { skip }, () => {
    it('has its checkpoint and its receipts cosigned', async () => {
      await using stack = new AsyncDisposableStack();
      const base = await logOf(stack, upTo(9));
      const witnesses = stack.use(await startWitnesses(2));
      const log = stack.use(await witnesses.watch(base));
      assert.ok(await witnesses.cosigned(log.checkpoint()));
      for (const number of [9, 10, 300]) {
        await appendAll(log, upTo(number + 1).slice(log.size));
        const receipt = (await log.receipt(idOf(leafOf(number)))) ?? assert.fail();
        const { size } = await headOf(receipt.checkpoint);
        assert.ok(size > number && size === receipt.tree_size && (await witnesses.cosigned(receipt.checkpoint)));
      }
      await until(async () => (await headOf(log.checkpoint())).size === 301 && log.report().missing.length === 0);
      assert.equal(await log.receipt(idOf(leafOf(999))), undefined);
      log.resign(testSigner(3));
      const { checkpoint } = (await log.receipt(idOf(leafOf(0)))) ?? assert.fail();
      const opened = await openNote(checkpoint, [noteVerifier(ORIGIN, testSigner(3).publicKey)]);
      assert.ok(opened.ok && (await witnesses.cosigned(checkpoint)), 'cosignatures outlive a rotation of the key');
    });

    it('answers on while fewer than required cosign, reports which, and has them cosign again', async () => {
      await using stack = new AsyncDisposableStack();
      const witnesses = stack.use(await startWitnesses(3));
      const log = stack.use(await witnesses.watch(await logOf(stack, upTo(3)), 2));
      witnesses.down.add(1).add(2);
      await appendAll(log, [3]);
      const { checkpoint } = (await log.receipt(idOf(leafOf(3)))) ?? assert.fail();
      assert.ok((await witnesses.cosigned(checkpoint, 1)) && !(await witnesses.cosigned(checkpoint, 2)));
      const missing = [1, 2].map((at) => ({ name: `w${at}.example`, detail: 'it does not answer' }));
      assert.deepEqual(log.report(), { configured: 3, required: 2, cosigning: 1, cosignedLeaves: 3, missing });
      const earlier = (await log.receipt(idOf(leafOf(0)))) ?? assert.fail();
      assert.ok(earlier.tree_size === 3 && (await witnesses.cosigned(earlier.checkpoint, 2)), 'proved as it was');
      witnesses.down.clear();
      await until(() => log.report().missing.length === 0);
      assert.ok(await witnesses.cosigned(log.checkpoint(), 3));
    });

    it('is not opened with fewer leaves than a witness has cosigned, or with different ones', async () => {
      await using stack = new AsyncDisposableStack();
      const witnesses = stack.use(await startWitnesses(2));
      await using _cosigned = await witnesses.watch(await logOf(stack, upTo(9)));
      for (const [numbers, code, message] of [
        [upTo(5), 'lost-leaves', /the witness w\d\.example has cosigned 9 leaves of the log .+, but there are 5/],
        [[0, 1, 2, 3, 4, 99, 6, 7, 8], 'forked', /another tree of 9 leaves/],
        [[...upTo(8), 99, 100], 'forked', /another tree of 9 leaves/],
      ] as const)
        await assert.rejects(witnesses.watch(await logOf(stack, numbers)), { name: 'LogError', code, message });
      for (const witness of witnesses.witnesses)
        assert.equal((await headOf(witness.checkpoint(originHash) ?? '')).size, 9, 'nothing else was cosigned');
    });

    it('takes no more leaves once a witness proves that it lacks some', async () => {
      await using stack = new AsyncDisposableStack();
      const witnesses = stack.use(await startWitnesses(1));
      await using _cosigned = await witnesses.watch(await logOf(stack, upTo(9)));
      witnesses.down.add(0);
      const log = stack.use(await witnesses.watch(await logOf(stack, [0, 1, 2, 3, 99])));
      await log.append(leafOf(100));
      witnesses.down.clear();
      await until(() => log.stats().refusal !== undefined);
      await assert.rejects(log.append(leafOf(101)), { name: 'LogError', code: 'lost-leaves' });
    });
  });

  describe(`a copy of a log ${name}`, { skip }, () => {
    it('is read from a file server alone, grows with the log, and refuses another one', async () => {
      await using stack = new AsyncDisposableStack();
      const directory = path.join(stack.use(await temporaryDirectory()).path, 'copy');
      const log = await logOf(stack, upTo(300));
      const publish = (read = (path: string) => log.read(path), verifiers = VERIFIERS) =>
        publishLog({ read, directory, origin: ORIGIN, verifiers });
      assert.partialDeepStrictEqual(await publish(), { size: 300, added: 300 });
      assert.deepEqual(readdirSync(directory).sort(), ['checkpoint', 'tile'], 'nothing else is served');
      await using server = await serveFolder(directory);
      let read = await readStaticLog(server.base, publicKey);
      const altered = (name: string) => async (path: string) => {
        const bytes = Uint8Array.from((await log.read(path)) ?? []);
        if (path === name) bytes[20] = 1 ^ (bytes[20] ?? 0);
        return bytes;
      };
      const [shorter, forked] = [await logOf(stack, upTo(299)), await logOf(stack, [999, ...upTo(310)])];
      await appendAll(log, [300]);
      for (const [from, code] of [
        [(path: string) => shorter.read(path), 'lost-leaves'],
        [(path: string) => forked.read(path), 'forked'],
        [async () => undefined, 'io'],
        [async (path: string) => (path.startsWith('tile/entries') ? undefined : log.read(path)), 'io'],
        [altered('tile/0/001.p/45'), 'corrupt-tile'],
        [altered('tile/1/000.p/1'), 'corrupt-tile'],
        [altered('tile/entries/001.p/45'), 'corrupt-tile'],
      ] as const)
        await assert.rejects(publish(from), { name: 'LogError', code });
      const unknownKey = [noteVerifier(ORIGIN, testSigner(9).publicKey)];
      await assert.rejects(publish(undefined, unknownKey), { name: 'LogError', code: 'wrong-key' });
      assert.equal((await readStaticLog(server.base, publicKey, read)).note, read.note, 'it is left as it is');
      for (const size of [301, 512, 1_100]) {
        await appendAll(log, upTo(size).slice(log.size));
        assert.equal((await publish()).size, size);
        read = await readStaticLog(server.base, publicKey, read);
      }
      const partial = readdirSync(path.join(directory, 'tile/0')).filter((name) => name.endsWith('.p'));
      assert.deepEqual(partial, ['004.p'], 'what became full is there once');
    });
  });
}
