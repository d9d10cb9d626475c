// The dialog with the keyboard shortcuts and the switch to disable them.
import { Dialog } from '../../ui/dialog.tsx';
import { PAGES } from './navigation.ts';
import { setShortcuts, useAreShortcutsOn } from './shortcuts.ts';

export function Keyboard({ onClose }: { readonly onClose: () => void }) {
  const areOn = useAreShortcutsOn();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
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
    </Dialog>
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
