// The store of the gateway, for the CLI, benches and tests (`@strata/gateway/store`).
export type { NewGatewayKey } from './access/keys.ts';
export {
  amountText,
  type GatewayKey,
  MAX_PRICE,
  NO_POLICY,
  PERIODS,
  type Period,
  type Policy,
  type SpendLimit,
  spendText,
  TEAM_NAME,
} from './access/policy.ts';
export type { AnswerTable, AnswerUsage, NewReceipt, TokensUsed, UsageRow } from './answers/answers.ts';
export type { StoredState } from './answers/stored-answers.ts';
export { gatewaySchema } from './migrations.ts';
export type { Reputations } from './reputations.ts';
export { type GatewayStore, openStore } from './store.ts';
