// Metrics and states of the targets of routes.
import type { Metrics } from '@strata/http';
import type { TargetEvent } from './routed-backend.ts';
import type { Target } from './target.ts';

type Watched = Pick<Target, 'name' | 'health'>;

/** Counts what happens at targets. `watch` adds those whose cooldowns are reported; their names are those of the settings. */
export function targetMeter(metrics: Metrics): {
  readonly onEvent: (event: TargetEvent) => void;
  readonly watch: (targets: readonly Watched[]) => void;
} {
  const attempts = metrics.counter('strata_upstream_attempts_total', 'Requests sent to a target', 'target');
  const failures = metrics.counters('strata_upstream_failures_total', 'Attempts without a complete answer', [
    'target',
    'reason',
  ]);
  const fallbacks = metrics.counter('strata_upstream_fallbacks_total', 'Answers after another target failed', 'target');
  const cooldowns = metrics.counter('strata_upstream_cooldowns_total', 'Cooldowns that began', 'target');
  let watched: readonly Watched[] = [];
  metrics.gauges('strata_upstream_cooling', 'Whether a target is in its cooldown: 1 or 0', 'target', () =>
    watched.map(({ name, health }) => [name, health.state(performance.now()) === 'ready' ? 0 : 1]),
  );
  return {
    onEvent: (event) => {
      const { target } = event;
      if (event.kind === 'failure') failures({ target, reason: event.reason });
      else ({ attempt: attempts, fallback: fallbacks, cooldown: cooldowns })[event.kind](target);
    },
    watch: (targets) => {
      watched = targets;
    },
  };
}

/** For `/ready`: `ready`, `probing`, or `cooling` with the seconds that are left. */
export function targetStates(targets: readonly Watched[], nowMs: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    targets.map(({ name, health }) => {
      const state = health.state(nowMs);
      const leftMs = (health.untilMs ?? nowMs) - nowMs;
      return [name, state === 'cooling' ? `cooling: ${Math.ceil(leftMs / 1_000)} s` : state];
    }),
  );
}
