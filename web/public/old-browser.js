// Runs once in a browser that cannot run the app, and leaves the page as it is without scripts.
document.documentElement.dataset.static = ''
if (!document.getElementById('old-browser')) {
  const line = document.createElement('p')
  line.id = 'old-browser'
  line.textContent = 'Читать можно и так, а чтобы войти и писать, нужен браузер поновее'
  line.style.cssText =
    'position:fixed;z-index:30;right:0;bottom:0;left:0;margin:0;padding:1em;text-align:center;color:#000;background:#fff;color:CanvasText;background:Canvas'
  document.body.append(line)
}
