// A command or other text with a copy button.
import { CopyButton } from './copy-button.tsx';

export function Command({ text, label = 'Copy command' }: { readonly text: string; readonly label?: string }) {
  return (
    <div className="command">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
