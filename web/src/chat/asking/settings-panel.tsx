// The parameters of a conversation: system prompt and sampling.
import { useId, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { NUMBER_PARAMETERS, type NumberParameter, parseParameter, type Settings } from './parameters.ts';

interface SettingsPanelProps {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
}

export function SettingsPanel({ settings, onChange }: SettingsPanelProps) {
  // A new number remounts the fields and so discards their text.
  const [resetCount, setResetCount] = useState(0);
  const set = (part: { readonly [name in keyof Settings]: Settings[name] | undefined }) =>
    onChange(
      Object.fromEntries(
        Object.entries({ ...settings, ...part }).filter(([, value]) => value !== undefined),
      ) as Settings,
    );
  return (
    <div className="stack">
      <label className="field">
        System prompt
        <textarea
          rows={4}
          value={settings.system ?? ''}
          placeholder="Instructions for the model"
          onChange={({ target }) => set({ system: target.value === '' ? undefined : target.value })}
        />
      </label>
      {NUMBER_PARAMETERS.map((parameter) => (
        <NumberField
          key={`${parameter.name} ${resetCount}`}
          parameter={parameter}
          value={settings[parameter.name]}
          onChange={(value) => set({ [parameter.name]: value })}
        />
      ))}
      <label className="field">
        Stop sequence
        <input
          value={settings.stop ?? ''}
          maxLength={256}
          placeholder="none"
          onChange={({ target }) => set({ stop: target.value === '' ? undefined : target.value })}
        />
      </label>
      <Button
        kind="small"
        onClick={() => {
          setResetCount(resetCount + 1);
          onChange(settings.model ? { model: settings.model } : {});
        }}
      >
        Reset to defaults
      </Button>
    </div>
  );
}

interface NumberFieldProps {
  readonly parameter: NumberParameter;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

/** Keeps the entered text, valid or not; only a valid value becomes a setting. */
function NumberField({ parameter, value, onChange }: NumberFieldProps) {
  const id = useId();
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const parsed = parseParameter(parameter, text);
  const entered = parsed.kind === 'value' ? parsed.value : undefined;
  // A value set elsewhere, such as in another tab, replaces the text.
  const shown = entered === value ? text : value === undefined ? '' : String(value);
  const problem = parsed.kind === 'problem' && shown === text ? parsed.problem : null;
  return (
    <div className="field">
      <label htmlFor={id}>{parameter.label}</label>
      <input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        placeholder="default"
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
