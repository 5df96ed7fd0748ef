try {
  if (localStorage.getItem('theme') === 'light') {
    document.documentElement.dataset.theme = 'light'
    document.querySelector('meta[name=theme-color]').content = '#fbf9f6'
  }
} catch {}

const heading = document.querySelector('h1')
const hint = document.querySelector('p')
const whenOffline = [heading.textContent, hint.textContent]

function show([title, text]) {
  document.title = title
  heading.textContent = title
  hint.textContent = text
}

if (navigator.onLine) show(['Сервер не отвечает', 'Попробуйте чуть позже.'])
addEventListener('offline', () => show(whenOffline))
addEventListener('online', () => location.reload())
