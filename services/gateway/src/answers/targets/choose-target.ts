// Chooses the next target of a route: groups in order, within a group by weight. Pure: time and chance are arguments.
import { hash } from 'node:crypto';
import type { TargetHealth } from './target-health.ts';

export interface Choosable {
  readonly name: string;
  readonly health: Pick<TargetHealth, 'isAvailable' | 'untilMs'>;
  /** Whether as many answers run there as it takes: another request would wait. */
  readonly isFull: boolean;
}

export interface Weighted<Target> {
  readonly target: Target;
  /** Its share of the requests of its group; 0: none. */
  readonly weight: number;
}

export type Groups<Target> = readonly (readonly Weighted<Target>[])[];

export interface ChoiceOptions<Target> {
  /** Of this request. */
  readonly tried: ReadonlySet<Target>;
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Requests with the same value get the same target while it is available. */
  readonly sticky?: string | undefined;
}

/**
 * The next target to try: an available one with a free slot, else an available one. If none that is left is available, the one whose cooldown ends first, but only once: a limit that
 * refused a long prompt may accept a short one, and a request with nowhere else to go is not refused on a guess.
 */
export function chooseTarget<Target extends Choosable>(
  groups: Groups<Target>,
  options: ChoiceOptions<Target>,
): { readonly target: Target; readonly isLastResort: boolean } | undefined {
  const { tried, nowMs } = options;
  const isLeft = ({ target, weight }: Weighted<Target>) => weight > 0 && !tried.has(target);
  const open = groups.map((group) => group.filter((each) => isLeft(each) && each.target.health.isAvailable(nowMs)));
  for (const group of [...open.map((group) => group.filter(({ target }) => !target.isFull)), ...open]) {
    const chosen = byWeight(group, options);
    if (chosen) return { target: chosen, isLastResort: false };
  }
  const endsAt = ({ target }: Weighted<Target>) => target.health.untilMs ?? nowMs;
  const [soonest] = groups
    .flat()
    .filter(isLeft)
    .sort((a, b) => endsAt(a) - endsAt(b));
  return soonest && { target: soonest.target, isLastResort: true };
}

/**
 * Weighted rendezvous hashing: each target draws −ln(u) / weight, and the smallest wins, in proportion to the weights. With u
 * from a hash only the requests of a target that is lost move to another.
 */
function byWeight<Target extends Choosable>(
  [first, ...rest]: readonly Weighted<Target>[],
  { random, sticky }: Pick<ChoiceOptions<Target>, 'random' | 'sticky'>,
): Target | undefined {
  if (first === undefined || rest.length === 0) return first?.target;
  const uniform = ({ target }: Weighted<Target>) =>
    sticky === undefined
      ? random()
      : Number.parseInt(hash('sha256', `${target.name}\n${sticky}`).slice(0, 12), 16) / 2 ** 48;
  const drawOf = (each: Weighted<Target>) => -Math.log(1 - uniform(each)) / each.weight;
  let best = { target: first.target, draw: drawOf(first) };
  for (const each of rest) {
    const draw = drawOf(each);
    if (draw < best.draw) best = { target: each.target, draw };
  }
  return best.target;
}
