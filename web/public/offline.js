try {
  if (localStorage.getItem('theme') === 'light') {
    document.documentElement.dataset.theme = 'light'
    document.querySelector('meta[name=theme-color]').content = '#fbf9f6'
  }
} catch {}

if (navigator.onLine) {
  document.title = 'Сервер не отвечает'
  document.querySelector('h1').textContent = 'Сервер не отвечает'
  document.querySelector('p').textContent = 'Попробуйте чуть позже.'
}

addEventListener('online', () => location.reload())
