// The roots are asked who they are: what they say is used, and whatever is no proper answer leaves the hints as they are.
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { createAddressGuard } from '../address-guard.ts';
import { type DnsScript, reply } from '../test/dns-server.ts';
import { address, authority, ns, ROOT, told, withHierarchy } from '../test/hierarchy.ts';
import { StopSwitch } from '../udp-channel.ts';
import { IterativeSource } from './iterative-source.ts';
import { ROOT_ADDRESSES } from './root-hints.ts';

const NEW = '127.66.0.2';
/** Not among the addresses that may be asked. */
const FORBIDDEN = '127.99.0.1';
const PRIMING = 'NS ./tcp';

const delegations = authority({ '': [ns('test', 'a.nic.test'), address('a.nic.test', '127.66.1.1')] });
/** A root server with an answer of its own to the question about the root. */
const rootOf =
  (script: DnsScript): DnsScript =>
  (question) =>
    question.type === 'NS' && question.name === '.' ? script(question) : delegations(question);
const announces = (...addresses: string[]): DnsScript =>
  rootOf((q) => [
    told(q, {
      answers: addresses.map((_, i) => ns('.', `${i}.roots.test`)),
      additionals: addresses.map((each, i) => address(`${i}.roots.test`, each)),
    }),
  ]);

/** A name of a top-level domain that was never asked for: only a root server has the answer. */
async function askRoot(source: IterativeSource, i: number): Promise<string> {
  const { lookup } = await source.ask({ question: `nowhere-${i}`, type: 'A', isUnchecked: false }, new StopSwitch());
  return lookup.status;
}

function withPrimed(
  scripts: Readonly<Record<string, DnsScript>>,
  test: (source: IterativeSource, asked: (server: string) => readonly string[]) => Promise<void>,
): Promise<void> {
  return withHierarchy(scripts, async ({ port, asked }) => {
    await using source = new IterativeSource({
      roots: [{ address: ROOT, port }],
      isPrimed: true,
      tryTimeoutMs: 10_000,
      totalTimeoutMs: 30_000,
      maxInFlight: 100,
      allowAddresses: ['127.66.0.0/16'],
    });
    await test(source, asked);
  });
}

it('what the roots say of themselves replaces the hints, over TCP and once', () =>
  withPrimed({ [ROOT]: announces(NEW), [NEW]: announces(NEW) }, async (source, asked) => {
    let i = 0;
    await until(async () => {
      assert.equal(await askRoot(source, i++), 'nxdomain');
      return asked(NEW).length > 0;
    });
    const before = asked(ROOT).length;
    for (const last = i + 10; i < last; i++) assert.equal(await askRoot(source, i), 'nxdomain');
    assert.equal(asked(ROOT).length, before);
    assert.deepEqual(
      [...asked(ROOT), ...asked(NEW)].filter((question) => question.startsWith('NS')),
      [PRIMING],
    );
  }));

for (const [what, script] of Object.entries<DnsScript>({
  'that may not be asked': announces(FORBIDDEN),
  'without addresses': rootOf((q) => [told(q, { answers: [ns('.', 'a.roots.test')] })]),
  'of another zone': rootOf((q) => [
    told(q, { answers: [ns('test', 'a.roots.test')], additionals: [address('a.roots.test', NEW)] }),
  ]),
  'from a server that does not answer for the root': rootOf((q) => [
    reply(q, { answers: [ns('.', 'a.roots.test')], additionals: [address('a.roots.test', NEW)] }),
  ]),
  'in a refusal': rootOf((q) => [
    told(q, { answers: [ns('.', 'a.roots.test')], additionals: [address('a.roots.test', NEW)], rcode: 5 }),
  ]),
  'in a message cut off': rootOf((q) => {
    const whole = told(q, { answers: [ns('.', 'a.roots.test')], additionals: [address('a.roots.test', NEW)] });
    return [whole.subarray(0, -3)];
  }),
}))
  it(`roots ${what} leave the hints in use`, () =>
    withPrimed({ [ROOT]: script, [NEW]: announces(NEW) }, async (source, asked) => {
      let i = 0;
      await until(async () => {
        assert.equal(await askRoot(source, i++), 'nxdomain');
        return asked(ROOT).includes(PRIMING);
      });
      for (const last = i + 20; i < last; i++) assert.equal(await askRoot(source, i), 'nxdomain');
      assert.deepEqual(asked(NEW), []);
      assert.ok(asked(ROOT).length > i);
    }));

it('roots that the operator named are not asked who they are', () =>
  withHierarchy({ [ROOT]: announces(NEW), [NEW]: announces(NEW) }, async ({ resolver, asked }) => {
    for (let i = 0; i < 20; i++) assert.equal((await resolver.query(`nowhere-${i}`, 'A')).status, 'nxdomain');
    assert.ok(asked(ROOT).length >= 20);
    assert.ok(!asked(ROOT).includes(PRIMING));
    assert.deepEqual(asked(NEW), []);
  }));

it('thirteen root servers are known, at addresses of both families that may be asked', () => {
  const guard = createAddressGuard();
  assert.equal(new Set(ROOT_ADDRESSES.filter((address) => isIP(address) === 4)).size, 13);
  assert.equal(new Set(ROOT_ADDRESSES.filter((address) => isIP(address) === 6)).size, 13);
  for (const address of ROOT_ADDRESSES) assert.equal(guard(address).isAllowed, true, address);
});
