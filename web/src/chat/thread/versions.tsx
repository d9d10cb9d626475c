// What was asked or answered in the place of this before: one step back or forth.

interface VersionsProps {
  readonly what: 'question' | 'answer';
  /** Of all versions, the oldest first. */
  readonly ids: readonly string[];
  readonly shown: string;
  /** Undefined while an answer comes. */
  readonly onShow: ((id: string) => void) | undefined;
}

export function Versions({ what, ids, shown, onShow }: VersionsProps) {
  if (ids.length < 2) return null;
  const at = ids.indexOf(shown);
  const step = (to: number, label: string, sign: string) => {
    const id = ids[to];
    return (
      <button
        type="button"
        className="chat-icon"
        aria-label={label}
        // Not `disabled`, which would throw the focus away at the end of the row.
        aria-disabled={id === undefined || !onShow}
        onClick={() => id !== undefined && onShow?.(id)}
      >
        <span aria-hidden="true">{sign}</span>
      </button>
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are no fields of a form
    <div className={`chat-versions small soft ${what}`} role="group" aria-label={`Versions of this ${what}`}>
      {step(at - 1, `Earlier version of this ${what}`, '‹')}
      <span aria-live="polite">{`${at + 1} of ${ids.length}`}</span>
      {step(at + 1, `Later version of this ${what}`, '›')}
    </div>
  );
}
