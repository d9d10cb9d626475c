// Warnings of spend limits: when an account has spent or reserved the amount of its warning, this is logged and counted, once
// in each period for all gateways.
import type { Metrics } from '@strata/http';
import type { Logger } from 'pino';
import { type Account, accountOf } from '../store/access/policy.ts';
import type { GatewayStore } from '../store/index.ts';

export interface BudgetWarningsDeps {
  readonly audit: Pick<GatewayStore['audit'], 'warn'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Work that ends before the store is closed. */
  readonly running: Set<Promise<unknown>>;
}

/** For `onWarning` of budgets. */
export function budgetWarnings({ audit, metrics, logger, running }: BudgetWarningsDeps) {
  const count = metrics.counter('strata_inference_budget_warnings_total', 'Spend limits near their end', 'owner');
  return (account: Account, day: string): void => {
    const logged = audit
      .warn(account, day)
      .then((isNew) => {
        if (!isNew) return;
        const { team, keyId } = accountOf(account.name);
        count(team === undefined ? 'key' : 'team');
        logger.warn(team === undefined ? { key: keyId } : { team }, 'a spend limit has reached its warning');
      })
      .catch((err: unknown) => logger.error({ err }, 'a warning of a spend limit was not logged'))
      .finally(() => running.delete(logged));
    running.add(logged);
  };
}
