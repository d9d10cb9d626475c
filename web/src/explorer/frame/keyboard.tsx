// The dialog with the keyboard shortcuts and the switch to disable them. The native dialog element handles focus and Escape.
import { useLayoutEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { PAGES } from './navigation.ts';
import { setShortcuts, useAreShortcutsOn } from './shortcuts.ts';

export function Keyboard({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const areOn = useAreShortcutsOn();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="keyboard-title" onClose={onClose}>
      <h2 id="keyboard-title">Keyboard shortcuts</h2>
      <label className="check">
        <input type="checkbox" checked={areOn} onChange={({ target }) => setShortcuts(target.checked)} />
        Enable shortcuts
      </label>
      <dl className={areOn ? 'keyboard-keys' : 'keyboard-keys soft'}>
        <Keys keys={['/']}>Search</Keys>
        <Keys keys={['?']}>Show shortcuts</Keys>
        {PAGES.map(([name, to, letter]) => (
          <Keys key={to} keys={['g', letter]}>
            {name}
          </Keys>
        ))}
      </dl>
      <form method="dialog" className="actions">
        <Button type="submit">Close</Button>
      </form>
    </dialog>
  );
}

function Keys({ keys, children }: { readonly keys: readonly string[]; readonly children: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}
