// Health and choice of targets, by tables: time and chance are given.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UpstreamError } from '@strata/engine';
import { casesOf } from '../../../../../tests/support/index.ts';
import { chooseTarget } from './choose-target.ts';
import { FAULT_REASONS, type Fault } from './fault.ts';
import { RoutedBackend, type TargetEvent } from './routed-backend.ts';
import type { Target } from './target.ts';
import { type Attempt, TargetHealth } from './target-health.ts';

const HEALTH = { failures: 3, windowMs: 100, cooldownMs: 30 };

for (const [name, steps] of casesOf<[string, string[]][]>('gateway', 'cooldowns of targets'))
  it(`of a target: ${name}`, () => {
    const health = new TargetHealth(HEALTH);
    const attempts = new Map<string, Attempt>();
    for (const step of steps) {
      const [ms = '', id = '', verb, reason, wait] = step.split(' = ')[0]?.split(' ') ?? [];
      const nowMs = Number(ms);
      const attempt = verb === 'begins' ? health.begin(nowMs) : attempts.get(id);
      if (attempt) attempts.set(id, attempt);
      if (verb === 'answered') attempt?.answered(nowMs);
      else if (verb === 'ended') attempt?.ended();
      else if (verb === 'leaves') attempt?.release();
      else if (verb === 'failed') {
        const wasCooling = health.state(nowMs) === 'cooling';
        const retryAfterMs = wait === undefined ? undefined : Number(wait);
        const began = attempt?.failed({ reason: reason as Fault['reason'], retryAfterMs }, nowMs);
        assert.equal(began, !wasCooling && health.state(nowMs) === 'cooling', step);
      }
      const state = health.state(nowMs);
      assert.equal(state === 'cooling' ? `cooling ${health.untilMs}` : state, step.split(' = ')[1], step);
    }
  });

/** `a:1, b:2 | c:1`: groups of targets with their weights; a name in `cooling` has the end of its cooldown. */
function groupsOf(text: string, cooling: Readonly<Record<string, number>> = {}, full = '') {
  const targetOf = (name: string) => ({
    name,
    isFull: full.includes(name),
    health: { isAvailable: () => !(name in cooling), untilMs: cooling[name] },
  });
  return text.split(' | ').map((group) =>
    group.split(', ').map((each) => {
      const [name = '', weight] = each.split(':');
      return { target: targetOf(name), weight: Number(weight) };
    }),
  );
}

type Choice = [
  name: string,
  groups: string,
  { tried?: string; cooling?: Record<string, number>; full?: string },
  string | null,
  string,
];
const CHOICES = casesOf<Choice[]>('gateway', 'choices of targets');
for (const [name, text, { tried = '', cooling, full }, expected, last] of CHOICES)
  it(`a request gets ${name}`, () => {
    const groups = groupsOf(text, cooling, full);
    const all = groups.flat().map(({ target }) => target);
    const before = new Set(all.filter((target) => tried.includes(target.name)));
    const chosen = chooseTarget(groups, { tried: before, nowMs: 0, random: () => 0.5 });
    assert.deepEqual([chosen?.target.name ?? null, chosen?.isLastResort ?? false], [expected, last === 'last']);
  });

it('requests are shared by weight; those with the same value stay together, and only those of a lost target move', () => {
  const groups = groupsOf('a:3, b:1');
  let drawn = 0;
  // A low-discrepancy sequence in two dimensions, in place of chance.
  const random = () => ((drawn++ + 1) * (drawn % 2 ? 0.7548776662466927 : 0.5698402909980532)) % 1;
  const shareOf = (name: string, next: (at: number) => { target: { name: string } } | undefined) =>
    Array.from({ length: 4_000 }, (_, at) => next(at)).filter((each) => each?.target.name === name).length / 4_000;
  const options = { tried: new Set<never>(), nowMs: 0, random };
  const byChance = shareOf('a', () => chooseTarget(groups, options));
  const byHash = shareOf('a', (at) => chooseTarget(groups, { ...options, sticky: `session ${at}` }));
  for (const share of [byChance, byHash]) assert.ok(Math.abs(share - 0.75) < 0.03, String(share));
  const wide = groupsOf('a:1, b:1, c:1');
  const without = groupsOf('a:1, b:1, c:1', { c: 9 });
  for (let at = 0; at < 100; at += 1) {
    const sticky = String(at);
    const names = [wide, wide, without].map((each) => chooseTarget(each, { ...options, sticky })?.target.name);
    assert.equal(names[0], names[1]);
    if (names[0] !== 'c') assert.equal(names[2], names[0]);
  }
});

for (const [on, tried, message] of [
  [FAULT_REASONS, ['a', 'b'], 'No server of this model answered: a (timeout), b (timeout).'],
  [['busy'], ['a'], 'a is away'],
] as const)
  it(`a request tries ${tried.join(' and ')} on ${on.join(', ')}, and nothing after two minutes`, async (t) => {
    let nowMs = 0;
    const attempted: string[] = [];
    const targetOf = (name: string): Target => ({
      ...{ name, upstream: name, model: 'm', slots: 1, isFull: false },
      ...{ current: undefined, health: new TargetHealth(HEALTH) },
      open: async () => {
        nowMs += 70_000;
        throw new UpstreamError(`${name} is away`, { fault: 'timeout' });
      },
    });
    const groups = ['a', 'b', 'c'].map((name) => [{ target: targetOf(name), weight: 1 }]);
    const deps = {
      nowMs: () => nowMs,
      random: () => 0,
      onEvent: ({ kind, target }: TargetEvent) => void (kind === 'attempt' && attempted.push(target)),
    };
    const { parts } = await new RoutedBackend({ id: 'x', groups, on: new Set(on) }, deps).planEmbeddings(['x']);
    await assert.rejects(parts[0]?.({ promptTokens: 0 }, t.signal) ?? assert.fail(), { message });
    assert.deepEqual(attempted, tried);
  });
