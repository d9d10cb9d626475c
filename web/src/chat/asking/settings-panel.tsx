// What goes with the questions of a conversation: instructions, and how the model draws its words.
import { useId, useState } from 'react';
import { NUMBER_PARAMETERS, type NumberParameter, parseParameter, type Settings } from './parameters.ts';

interface SettingsPanelProps {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
}

export function SettingsPanel({ settings, onChange }: SettingsPanelProps) {
  const id = useId();
  // With each the fields are new: what is written in them, right or wrong, is gone.
  const [round, setRound] = useState(0);
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
      {NUMBER_PARAMETERS.map((parameter) => (
        <NumberField
          key={`${parameter.name} ${round}`}
          parameter={parameter}
          value={settings[parameter.name]}
          onChange={(value) => set({ [parameter.name]: value })}
        />
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
        onClick={() => {
          setRound(round + 1);
          onChange(settings.model ? { model: settings.model } : {});
        }}
      >
        Back to the model's own
      </button>
    </div>
  );
}

interface NumberFieldProps {
  readonly parameter: NumberParameter;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

/** Holds what is written, right or wrong; only what the service takes becomes a setting. */
function NumberField({ parameter, value, onChange }: NumberFieldProps) {
  const id = useId();
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const parsed = parseParameter(parameter, text);
  const meant = parsed.kind === 'value' ? parsed.value : undefined;
  // Where it was set elsewhere, such as in another tab, that is what counts.
  const shown = meant === value ? text : value === undefined ? '' : String(value);
  const problem = parsed.kind === 'problem' && shown === text ? parsed.problem : null;
  return (
    <div>
      <label htmlFor={id}>{parameter.label}</label>
      <input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        placeholder="the model's own"
        aria-describedby={`${id}-hint`}
        aria-invalid={problem !== null}
        value={shown}
        onChange={({ target }) => {
          setText(target.value);
          const next = parseParameter(parameter, target.value);
          onChange(next.kind === 'value' ? next.value : undefined);
        }}
      />
      <span id={`${id}-hint`} className={problem === null ? 'small soft' : 'small field-problem'}>
        {problem ?? parameter.hint}
      </span>
    </div>
  );
}
