// Switches between the versions of a question or answer.

interface VersionsProps {
  readonly what: 'question' | 'answer';
  /** All versions, oldest first. */
  readonly ids: readonly string[];
  readonly shown: string;
  /** Undefined while an answer is running. */
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
        // Not `disabled`, which would lose the focus at the first or last version.
        aria-disabled={id === undefined || !onShow}
        onClick={() => id !== undefined && onShow?.(id)}
      >
        <span aria-hidden="true">{sign}</span>
      </button>
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: not a group of form fields
    <div className={`chat-versions small soft ${what}`} role="group" aria-label={`Versions of this ${what}`}>
      {step(at - 1, `Earlier version of this ${what}`, '‹')}
      <span aria-live="polite">{`${at + 1} of ${ids.length}`}</span>
      {step(at + 1, `Later version of this ${what}`, '›')}
    </div>
  );
}
