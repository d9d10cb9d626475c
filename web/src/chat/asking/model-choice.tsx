// The model selector.
import { useId } from 'react';
import { formatCompact, formatNumber } from '../../ui/formats.ts';
import type { Model } from '../inference.ts';

interface ModelChoiceProps {
  readonly models: readonly Model[] | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}

export function ModelChoice({ models, chosen, onChoose }: ModelChoiceProps) {
  const id = useId();
  if (models === undefined || models.length === 0) return null;
  const isUnavailable = chosen !== undefined && !models.some((model) => model.id === chosen);
  return (
    <div className="chat-model">
      <label className="hidden-text" htmlFor={id}>
        Model
      </label>
      <select id={id} value={chosen} onChange={({ target }) => onChoose(target.value)}>
        {isUnavailable && <option value={chosen}>{`${chosen} (unavailable)`}</option>}
        {models.map((model) => (
          <option key={model.id} value={model.id}>
            {nameOf(model)}
          </option>
        ))}
      </select>
    </div>
  );
}

function nameOf({ id, parameters, quantisation, context_length }: Model): string {
  const facts = [
    ...(parameters === null ? [] : [`${formatCompact(parameters)} parameters`]),
    ...(quantisation === null ? [] : [quantisation]),
    ...(context_length === null ? [] : [`context ${formatNumber(context_length)}`]),
  ];
  return facts.length === 0 ? id : `${id} (${facts.join(', ')})`;
}
