// What goes with the questions of a conversation: instructions, and how the model draws its words.
import { useId } from 'react';
import type { Settings } from './conversations.ts';

interface SettingsPanelProps {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
}

const NUMBERS = [
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0 is the likeliest words, 2 the wildest',
    min: 0,
    max: 2,
    step: 0.1,
  },
  {
    name: 'topP',
    label: 'Top p',
    hint: 'Only the likeliest words that make up this share',
    min: 0,
    max: 1,
    step: 0.05,
  },
  { name: 'maxTokens', label: 'Most tokens', hint: 'An answer ends there', min: 1, max: 1_000_000, step: 1 },
  { name: 'seed', label: 'Seed', hint: 'The same seed draws the same words', min: 0, max: 2_147_483_647, step: 1 },
  {
    name: 'presencePenalty',
    label: 'Presence penalty',
    hint: 'Against words that were used',
    min: -2,
    max: 2,
    step: 0.1,
  },
  {
    name: 'frequencyPenalty',
    label: 'Frequency penalty',
    hint: 'Against words used often',
    min: -2,
    max: 2,
    step: 0.1,
  },
] as const;

export function SettingsPanel({ settings, onChange }: SettingsPanelProps) {
  const id = useId();
  const set = (part: { readonly [name in keyof Settings]: Settings[name] | undefined }) =>
    onChange(
      Object.fromEntries(
        Object.entries({ ...settings, ...part }).filter(([, value]) => value !== undefined),
      ) as Settings,
    );
  return (
    <div className="chat-fields">
      <div>
        <label htmlFor={`${id}-system`}>System prompt</label>
        <textarea
          id={`${id}-system`}
          rows={4}
          value={settings.system ?? ''}
          placeholder="How the model is to answer"
          onChange={({ target }) => set({ system: target.value === '' ? undefined : target.value })}
        />
      </div>
      {NUMBERS.map(({ name, label, hint, min, max, step }) => (
        <div key={name}>
          <label htmlFor={`${id}-${name}`}>{label}</label>
          <input
            id={`${id}-${name}`}
            type="number"
            inputMode="decimal"
            min={min}
            max={max}
            step={step}
            placeholder="the model's own"
            aria-describedby={`${id}-${name}-hint`}
            value={settings[name] ?? ''}
            onChange={({ target }) => {
              const value = target.valueAsNumber;
              set({ [name]: Number.isNaN(value) ? undefined : Math.min(max, Math.max(min, value)) });
            }}
          />
          <span id={`${id}-${name}-hint`} className="small soft">
            {hint}
          </span>
        </div>
      ))}
      <div>
        <label htmlFor={`${id}-stop`}>Stop at</label>
        <input
          id={`${id}-stop`}
          value={settings.stop ?? ''}
          maxLength={256}
          placeholder="nothing"
          onChange={({ target }) => set({ stop: target.value === '' ? undefined : target.value })}
        />
      </div>
      <button
        className="button small"
        type="button"
        onClick={() => onChange(settings.model ? { model: settings.model } : {})}
      >
        Back to the model's own
      </button>
    </div>
  );
}
