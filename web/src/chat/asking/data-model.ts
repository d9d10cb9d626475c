// Which model answers from the data of the stack service.
import type { Model } from '@strata/client';

/** The id of the answers from the data, as in services/gateway/src/answers/models.ts. */
export const DATA_MODEL = 'strata-data';
/** The gateway answers questions about the data itself for smaller models. */
const MIN_TOOL_PARAMETERS = 100_000_000;

/** Whether a question about a domain to this model is answered from the data. */
export function knowsData(model: Model | undefined, models: readonly Model[]): boolean {
  if (model?.id === DATA_MODEL) return true;
  const isSmall = typeof model?.parameters === 'number' && model.parameters < MIN_TOOL_PARAMETERS;
  return isSmall && models.some(({ id }) => id === DATA_MODEL);
}
